// The subcommands of `millrace`. Each adds itself to the command line; its callback does the work and ends the program
// with std::exit(status): 0 done, 1 something was found or the program failed, 2 wrong usage.
#pragma once

namespace CLI {
class App;
}

namespace millrace {

void add_check(CLI::App& app);
void add_explore(CLI::App& app);
void add_graph(CLI::App& app);
void add_info(CLI::App& app);
void add_timeline(CLI::App& app);

}  // namespace millrace
