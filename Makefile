# The two commands: `make demo` and `make test`. Each installs what it lacks, builds and runs.
.PHONY: build demo test bench install clean
build:
	@scripts/install-packages
	@cmake --preset default >/dev/null && cmake --build --preset default
# FILE: what the demo streams, instead of the largest library of this machine's LLVM.
demo: build
	@examples/run-demo $(if $(FILE),"$(FILE)")
test: build
	@tests/run
bench:
	@scripts/install-packages bench
	@$(MAKE) --no-print-directory build
	@bench/run
	@bench/scale
PREFIX ?= /usr/local
install: build
	@cmake --install build --prefix $(PREFIX)
clean:
	rm -rf build build-*
