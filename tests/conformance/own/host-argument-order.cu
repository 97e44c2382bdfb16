// In which order host code evaluates the arguments of a call: C++ leaves it open, g++ on x86-64 (nvcc's host compiler)
// goes from right to left, except where C++17 gives an order (braces, operators, what names the function).
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

static int n;
static int next() { return ++n; }
static const char* name(const char* s) {
  std::printf("<%s>", s);
  return s;
}
static int show(const char* what, int value) {
  std::printf("%s %d\n", what, value);
  return value;
}

struct Point {
  int x, y;
  Point(int a, int b) : x(a), y(b) {}
  ~Point() {}
};
struct Three {
  int a, b, c;
};
struct Nested {
  Point p;
  int z;
  Nested(int k) : p(next(), next()), z(k) {}
  virtual ~Nested() {}
  int member(int a, int b) const { return a * 100 + b; }
  Nested& chain(int k) {
    std::printf("chain %d\n", k);
    return *this;
  }
};

static Point make(int a, int b) { return Point(a, b); }
static Point global(next(), next());
static Point global_by_call = make(next(), next());
template <class T> static T pair(T a, T b) { return a * 100 + b; }
template <class T> static int deep() { return pair<T>(next(), next()); }
static std::string text(int i) { return std::to_string(i); }
static int join(const std::string& a, int b) { return std::stoi(a) * 100 + b; }
static int references(const int& a, int&& b) { return a * 100 + b; }
static double converted(double a, float b) { return a * 100 + b; }
static int variadic(int k, ...) { return k; }
static int tagged(const char* tag, int a, int b) {
  std::printf("%s ", tag);
  return a * 100 + b;
}
static int with_default(int a, int b = 7, int c = next()) { return a * 10000 + b * 100 + c; }
__host__ __device__ static int both(int a, int b) { return a * 100 + b; }

int main() {
  std::printf("%d %d, %d %d\n", global.x, global.y, global_by_call.x, global_by_call.y);
  std::printf("%d %d %d\n", next(), next(), next());
  std::printf("%s %s\n", name("a"), name("b"));
  Point p(next(), next()), q = make(next(), next()), braced{next(), next()};
  std::printf("%d %d, %d %d, %d %d\n", p.x, p.y, q.x, q.y, braced.x, braced.y);
  Three aggregate{next(), next(), next()};
  std::printf("%d %d %d\n", aggregate.a, aggregate.b, aggregate.c);
  auto two = std::make_pair(next(), next());
  std::printf("%d %d\n", two.first, two.second);
  std::vector<Point> points;
  points.push_back(Point(next(), next()));
  points.emplace_back(next(), next());
  for (const Point& e : points) std::printf("%d %d\n", e.x, e.y);
  auto unique = std::make_unique<Point>(next(), next());
  auto* plain = new Point(next(), next());
  std::printf("%d %d, %d %d\n", unique->x, unique->y, plain->x, plain->y);
  delete plain;
  std::printf("%d %d\n", pair(next(), next()), deep<int>());
  std::printf("%d\n", join(text(next()), next()));
  std::printf("%d\n", references(next(), next()));
  std::printf("%g\n", converted(next(), next()));
  int i = 5;
  std::printf("%d %d\n", i, i++);
  Nested nested(7);
  std::printf("%d %d %d, %d\n", nested.p.x, nested.p.y, nested.z, nested.member(next(), next()));
  nested.chain(next()).chain(next());
  auto lambda = [&](int a, int b) { return a * 100 + b; };
  std::function<int(int, int)> function = lambda;
  int (*pointer)(int, int) = pair<int>;
  std::printf("%d %d %d\n", lambda(next(), next()), function(next(), next()), pointer(next(), next()));
  auto inside = [&] { return pair(next(), next()); };
  auto generic = [](auto a, auto b) { return pair(a + next(), b + next()); };
  std::printf("%d %d\n", inside(), generic(0, 0));
  std::printf("%d\n", std::max(next(), next()));
  std::printf("%d\n", variadic(next(), next(), 1.5f * next(), text(next()).c_str()));
  std::printf("%d\n", tagged(name("tag"), show("left", 1), show("right", 2)));
  std::printf("%d %d\n", with_default(next()), with_default(next(), next()));
  std::printf("%d\n", both(next(), next()));
  std::cout << next() << ' ' << next() << ' ' << pair(next(), next()) << '\n';
  static Point once(next(), next());
  try {
    throw Point(next(), next());
  } catch (const Point& e) {
    std::cout << e.x << ' ' << e.y << ' ' << once.x << ' ' << once.y << '\n' << std::flush;
  }
  std::printf("%s, %s\n", cudaGetErrorName(static_cast<cudaError_t>(show("first", 0))),
              cudaGetErrorName(static_cast<cudaError_t>(show("second", 1))));
  dim3 grid(next(), next());
  std::printf("%u %u\n", grid.x, grid.y);
  std::printf("%d\n", n);
}
