"""gdb commands for programs that run on Millrace. `source <tree>/lib/millrace/millrace-gdb.py`, then

    info millrace kernels     (mr kernels)  the kernels that threads run at this moment, and where they are
    info millrace block       (mr block)    the block of the selected thread, when it stands in device code
    info millrace threads     (mr threads)  the CUDA threads of that block: what each does, and at which line it is
    mr thread N COMMAND                     COMMAND (bt, info locals, print x) in the block's thread N, if it is suspended

Breakpoints, variables and threadIdx, blockIdx, blockDim, gridDim need nothing of this: compile with -g -G. The runtime has
to have its debug information.
"""
import gdb

STACK_BITS = 18  # runtime/simt/abi.h, MR_STACK_BITS and mr_lane_of
SITE_DISTANCE = 1024  # MR_SITE_DISTANCE
KERNEL_SITES = 1 << 7  # MR_KERNEL_SITES
WAITS = [("at_barrier", "waiting at a barrier of the block"), ("at_named", "waits at a named barrier"),
         ("at_grid", "waiting at the grid's barrier"), ("at_cluster", "waits at the cluster's barrier"),
         ("sleeping", "sleeping"), ("polled", "spinning"), ("at_activemask", "waiting in __activemask")]
REGISTERS = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")  # as runtime/simt/context.S saves them


def value(expression):
    return gdb.parse_and_eval(expression)


def triple(array):
    return "(%d,%d,%d)" % tuple(int(array[i]) for i in range(3))


def kernel_name(kernel):
    name = kernel["name"].string()
    try:
        shown = gdb.execute("demangle -- " + name, to_string=True).strip()
        return name if "demangle" in shown else shown
    except gdb.error:
        return name


def executors():
    """The runtime's threads that have run device code (simt/executor.cpp)."""
    try:
        e = value("'mr::simt::(anonymous namespace)::first_executor'")
    except gdb.error:
        raise gdb.GdbError("The program has not loaded Millrace's runtime, or its debug information is missing.")
    while e:
        yield e.dereference()
        e = e["next"]


def lane_of(stack_pointer):
    base = stack_pointer & ~((1 << STACK_BITS) - 1)
    return base + ((stack_pointer >> STACK_BITS & 63) << 6)


def at_address(address, type_name):
    return gdb.Value(address).cast(gdb.lookup_type(type_name).pointer())


def site_of(lane, kernel):
    """file:line that the lane has reached last; known for kernels compiled with -G."""
    if not int(kernel["flags"]) & KERNEL_SITES:
        return ""
    site = at_address(int(lane) ^ SITE_DISTANCE, "MrSite").cast(gdb.lookup_type("MrSite").pointer().pointer()).dereference()
    if not site:
        return ""
    return "%s:%d" % (site["file"].string().split("/")[-1], int(site["line"]))


class Here:
    """The block that the selected gdb thread runs."""

    def __init__(self):
        thread = gdb.selected_thread()
        if thread is None:
            raise gdb.GdbError("The program does not run.")
        self.executor = next((e for e in executors() if e["grid"] and int(e["thread"]) == self.pthread()), None)
        if self.executor is None:
            raise gdb.GdbError("The selected thread runs no kernel: `mr kernels` lists those that do.")
        self.grid = self.executor["grid"].dereference()
        self.kernel = self.grid["kernel"].dereference()
        stack_pointer = int(gdb.newest_frame().read_register("rsp"))
        self.lane = at_address(lane_of(stack_pointer), "MrLane")
        self.resident = self.executor["current"]

    @staticmethod
    def pthread():
        return int(value("$fs_base"))

    def block(self):
        """simt's Block in fiber mode, else None."""
        if not self.resident:
            return None
        warp = self.lane["runtime"].cast(gdb.lookup_type("mr::simt::Warp").pointer())
        return warp["block"].dereference() if warp else None


def show_kernels():
    any_shown = False
    for e in executors():
        if not e["grid"]:
            continue
        grid = e["grid"].dereference()
        thread = next((t for t in gdb.selected_inferior().threads() if pthread_of(t) == int(e["thread"])), None)
        blocks = int(e["current"]["block_count"]) if e["current"] else 1
        print("%s %s on thread %s: grid %s, block %s, %s" % (
            "*" if thread and thread == gdb.selected_thread() else " ", kernel_name(grid["kernel"].dereference()),
            thread.num if thread else "?", triple(grid["grid"]), triple(grid["block"]),
            "%d block%s on fibers" % (blocks, "" if blocks == 1 else "s") if e["current"] else "a loop over its threads"))
        any_shown = True
    if not any_shown:
        print("No kernel runs.")


def pthread_of(thread):
    selected, frame = gdb.selected_thread(), gdb.selected_frame()
    thread.switch()
    try:
        return int(value("$fs_base"))
    finally:
        selected.switch()
        frame.select()


def show_block():
    here = Here()
    block = here.lane["block"].dereference()
    print("%s, block %s of %s, %d threads; thread %s is in %s" % (
        kernel_name(here.kernel), triple(block["block_idx"]), triple(block["grid_dim"]), int(block["threads"]),
        triple(here.lane["tid"]), site_of(here.lane, here.kernel) or "device code"))
    print("shared memory: %d bytes of variables, %d dynamic, at %#x" % (
        int(block["static_shared"]), int(block["dynamic_shared"]), int(block["shared"])))


def lanes(block):
    """(number, warp, lane in the warp) of the block's threads."""
    for w in range(int(block["warp_count"])):
        warp = block["warps"][w]
        for lane in range(min(32, int(block["abi"]["threads"]) - 32 * w)):
            yield 32 * w + lane, warp, lane


def stack_base(here):
    """Where stack number 0 would lie, from the running lane's own number."""
    warp = here.lane["runtime"].cast(gdb.lookup_type("mr::simt::Warp").pointer())
    own = int(warp["stack"][int(here.lane["linear"]) % 32])
    return (int(here.lane) & ~((1 << STACK_BITS) - 1)) - (own << STACK_BITS)


def state(warp, lane, running):
    bit = 1 << lane
    if running:
        return "running"
    if not int(warp["live"]) & bit:
        return "ended"
    if not int(warp["started"]) & bit:
        return "not begun"
    for field, words in WAITS:
        if int(warp[field]) & bit:
            return words
    for g in range(int(warp["group_count"])):
        if int(warp["groups"][g]["arrived"]) & bit:
            return "waiting in a warp operation for lanes %#x" % int(warp["groups"][g]["mask"])
    return "ready"


def show_threads():
    here = Here()
    block = here.block()
    if block is None:
        print("The block's threads run one after the other; this one is %s." % triple(here.lane["tid"]))
        return
    base, previous = stack_base(here), None
    rows = []
    for number, warp, lane in lanes(block):
        running = number == int(here.lane["linear"]) and warp.address == here.lane["runtime"].cast(warp.address.type)
        what, where = state(warp, lane, running), ""
        if int(warp["live"]) & int(warp["started"]) & 1 << lane:
            where = site_of(lane_of(base + (int(warp["stack"][lane]) << STACK_BITS)), here.kernel)
        row = what + (" at " + where if where else "")
        if row == previous:
            rows[-1][1] = number
        else:
            rows.append([number, number, row])
        previous = row
    for first, last, row in rows:
        print("%s: %s" % ("thread %d" % first if first == last else "threads %d-%d" % (first, last), row))


def in_thread(number, command):
    here = Here()
    block = here.block()
    if block is None or number == int(here.lane["linear"]):
        raise gdb.GdbError("Thread %d is the one that runs, or the block runs as a loop." % number)
    found = next(((w, l) for n, w, l in lanes(block) if n == number), None)
    if found is None:
        raise gdb.GdbError("The block has no thread %d." % number)
    warp, lane = found
    if not int(warp["live"]) & int(warp["started"]) & 1 << lane:
        raise gdb.GdbError("Thread %d: %s." % (number, state(warp, lane, False)))
    saved_at = int(warp["context"][lane])
    word = gdb.lookup_type("unsigned long")
    gdb.newest_frame().select()
    kept = {r: int(value("(unsigned long)$" + r)) for r in REGISTERS + ("rsp",)}
    try:
        for i, register in enumerate(REGISTERS):
            saved = int(gdb.Value(saved_at + 8 * i).cast(word.pointer()).dereference())
            gdb.execute("set $%s = %d" % (register, saved), to_string=True)
        gdb.execute("set $rsp = %d" % (saved_at + 8 * len(REGISTERS)), to_string=True)
        gdb.execute(command)
    finally:
        gdb.newest_frame().select()
        for register, was in kept.items():
            gdb.execute("set $%s = %d" % (register, was), to_string=True)


SHOWS = {"kernels": show_kernels, "block": show_block, "threads": show_threads}


def run(argument):
    words = argument.split(None, 2)
    if len(words) == 1 and words[0] in SHOWS:
        SHOWS[words[0]]()
    elif len(words) == 3 and words[0] == "thread" and words[1].isdigit():
        in_thread(int(words[1]), words[2])
    else:
        raise gdb.GdbError(__doc__)


class Command(gdb.Command):
    __doc__ = __doc__

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        run(argument)

    def complete(self, text, word):
        return [name for name in [*SHOWS, "thread"] if name.startswith(word)]


Command("info millrace")
Command("mr")
