# Run `make test` while you work, `make check` before a merge and `make ci` on a fresh machine. `make help` lists the rest.

SHELL := /bin/bash -o pipefail
GO    ?= go
LINT  := bin/golangci-lint
HELM  := bin/helm
MOD   := github.com/oxgang/oxgang
# The number of packages that are built or tested in parallel: one more than processors, because some tests wait.
JOBS  ?= $$(($$(getconf _NPROCESSORS_ONLN) + 1))
PKG   ?= ./...
# The seed of random inputs in tests, the same on every machine. `make seeds` draws new ones.
SEED  ?= 1
SEEDTIME ?= 60
BENCH ?= .
FUZZTIME ?= 10s
# The number of executions to shrink a failing input. Go's default, a minute, is longer than FUZZTIME.
FUZZMINIMIZE ?= 10x
# A Python with torch, numpy, pytest and mypy. The default is a virtual environment in this checkout.
PYTHON ?= .cache/venv/bin/python
# Full-size tests. Each target adds the packages.
TEST = RAPID_SEED=$(SEED) $(GO) test -vet=off -timeout 30m -p $(JOBS)

.PHONY: test check ci ci-alone ci-compute ci-wait quick lint slow long race seeds generated tidy python browser live reproduce kube-build kube-vet kube-quick kube-tenant kube-test kube-upgrade
.PHONY: docs types slurm-quick slurm-test build fix generate dist chart bench speed fuzz mutants soak clean help
.PHONY: programs package package-check upgrade images sbom release reproducible vulnerabilities gosec wheel

## test: all tests that start no process (a minute and a half once built)
test:
	$(TEST) -short ./...

## check: everything that must pass before a merge: test, lint, slow tests, race detector, new seeds, generated files
check: lint test slow race seeds generated tidy
	@echo "check: all passed"

## ci: tests that need more than Go: docs, TypeScript, PyTorch, a browser, Kubernetes, Slurm, experiments of papers (.ci/run installs these)
ci: ci-alone ci-compute ci-wait
	@echo "ci: all passed"

# The parts of ci: ci-alone measures times, so nothing else should run meanwhile; ci-wait mostly waits, so .ci/run runs ci-compute beside it.
ci-alone: live
ci-compute: docs types python reproduce browser kube-tenant
ci-wait: kube-quick slurm-quick

BASE ?= HEAD
QUICKTIME ?= 50

## quick: format, vet and short tests of the packages changed since commit BASE (HEAD) and of their importers, in a minute
quick: $(LINT)
	@GO='$(GO)' JOBS=$(JOBS) RAPID_SEED=$(SEED) internal/tools/quick $(BASE) $(QUICKTIME)

## help: this list; the Makefile has more targets
help:
	@sed -n 's/^## //p' Makefile

# ---- The parts of check

## lint: golangci-lint with format, opt/exact without cgo, queries of the dashboard, and phrases that make a reader stop
lint: $(LINT)
	$(GO) test -vet=off ./internal/tree
	$(LINT) fmt --diff
	$(LINT) run
	CGO_ENABLED=0 $(GO) vet ./opt/exact ./opt/engine
	cd internal/tools/fitcatalog && $(GO) vet .
	cd internal/tools/promql && $(GO) run . $(CURDIR)/deploy/charts/oxgang/dashboards/oxgang.json $(CURDIR)/deploy/charts/oxgang/dashboards/alerts.yaml

# The packages whose tests draw random inputs, in any order.
DRAWING = $(GO) list -test -f '{{$$p := .ForTest}}{{range .Deps}}{{if or (eq . "pgregory.net/rapid") (eq . "$(MOD)/internal/draws")}}{{$$p}}{{"\n"}}{{end}}{{end}}' $(PKG) | grep . | sort -u | shuf
# The folders of the packages whose tests mention $(1).
MENTION = grep -rlE --include='*_test.go' '$(1)' . | grep -v '^./live/kube/rig/' | xargs -n 1 dirname | sort -u

## slow: full-size tests of the packages that do less with -short: more random inputs, long simulations, real processes
slow:
	$(TEST) $$({ $(DRAWING); $(call MENTION,testing\.Short\(\)) | sed 's,^\.,$(MOD),'; } | sort -u)

## long: before a release: tests that sample check everything (a quarter of an hour), and an hour of random requests of a tenant
long:
	OXGANG_LONG=1 $(TEST) $$($(call MENTION,draws\.(Some|Long)|OXGANG_LONG))
	cd live/kube/rig && OXGANG_LONG=1 $(GO) test -count=1 -timeout 2h ./tenant

# The packages that start goroutines or use locks, in code or tests.
RACE = $$(grep -rlE --include='*.go' '^[[:space:]]+go [a-zA-Z(]|"sync"|"sync/atomic"|errgroup|synctest' scheduler opt live | grep -v '^live/kube/rig/' | xargs -n 1 dirname | sort -u | sed 's,^,./,')

## race: the packages with goroutines under the race detector, which needs a C compiler
# By default each process waits a second before it exits, which is long for tests that start many.
race: export GORACE = atexit_sleep_ms=0
race:
ifeq ($(shell $(GO) env CGO_ENABLED),1)
	$(TEST) -race -short $(RACE)
	RAPID_CHECKS=25 $(TEST) -race -short -run '^(TestInvariants|TestBackground)' ./simulate/sim
	$(TEST) -race -skip '^TestSimulation' ./live/local ./live/serve/... ./live/supervisor
	$(TEST) -race -run '^(TestInterrupt|TestWatch|TestSubmit|TestLogs)' ./cmd/oxgang
else
	@echo "race: skipped, the race detector needs a C compiler"
endif

# seeds: short tests with a new random seed, for SEEDTIME (60) seconds; a failure prints the command that repeats it
seeds:
	@GO='$(GO)' JOBS=$(JOBS) internal/tools/seeds $(SEEDTIME) $$($(DRAWING))

# A checksum of the working tree: names and contents.
TREE = { git status --porcelain; git diff; git ls-files -o --exclude-standard | xargs -r sha256sum; } | sha256sum

# generated: go generate changes nothing
generated:
	@before=$$($(TREE)); $(GO) generate ./...; after=$$($(TREE)); \
	if [ "$$before" != "$$after" ]; then git --no-pager diff --stat; \
		echo "generated: go generate changed files, commit them" >&2; exit 1; fi

# tidy: go.mod and go.sum list exactly the imported modules
tidy:
	$(GO) mod tidy -diff

## fix: format, and all corrections that linters can make
fix: $(LINT)
	$(LINT) fmt
	$(LINT) run --fix

## generate: write the generated files
generate:
	$(GO) generate ./...

# ---- The parts of ci

# python: the Python package: types and tests
python: $(PYTHON)
	cd python && $(abspath $(PYTHON)) -m mypy && $(abspath $(PYTHON)) -m pytest -q

# types: the types of the live page's TypeScript, with the compiler of internal/tools/typescript/package-lock.json; needs npm
types: .cache/typescript/node_modules
	.cache/typescript/node_modules/.bin/tsc -p live/page/web

.cache/typescript/node_modules: internal/tools/typescript/package-lock.json
	mkdir -p .cache/typescript && cp internal/tools/typescript/package*.json .cache/typescript
	npm ci --prefix .cache/typescript --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# live: real trainings on this machine, for some minutes
live: $(PYTHON)
	OXGANG_E2E=1 OXGANG_PYTHON=$(abspath $(PYTHON)) $(GO) test -count=1 -timeout 20m -run '^TestLive$$' -v ./cmd/oxgang

# browser: the tests that open pages, whose names begin with TestBrowser, in Chromium; pages also answer questions in Firefox
browser:
	OXGANG_BROWSER=1 $(TEST) -p 1 -v -run '^TestBrowser' ./internal/browser $$($(call MENTION,internal/browser"))

# reproduce: the experiments of papers that take seconds; `oxgang lab reproduce --all` runs all
reproduce:
	$(GO) run ./cmd/oxgang lab reproduce --ci

# The packages with tests on a real Slurm; their names contain Slurm. They run one after another, each with a separate Slurm.
SLURM = $$($(call MENTION,slurmtest\.Start|SLURMRIG|package slurmtest))

## slurm-test: all tests on a real Slurm; needs root and Debian's Slurm packages, else the tests are skipped with a reason
slurm-test:
	SLURMRIG=1 $(GO) test -vet=off -count=1 -p 1 -timeout $(RIGTIME) -run 'Slurm|^TestRig' $(RIGFLAGS) $(SLURM)

# slurm-quick: slurm-test without the tests that take minutes
slurm-quick:
	SLURMRIG=1 $(GO) test -vet=off -count=1 -p 1 -short -timeout $(RIGTIME) -run 'Slurm|^TestRig' $(RIGFLAGS) $(SLURM)

RIGTIME  ?= 30m
RIGFLAGS ?=

## kube-test: module live/kube/rig: lint and all its tests on real Kubernetes control planes
kube-test: kube-vet
	cd live/kube/rig && $(GO) run ./cmd/rig build
	cd live/kube/rig && OXGANG_BROWSER=1 $(GO) test -count=1 -p 1 -timeout $(RIGTIME) $(RIGFLAGS) ./...

# kube-build: builds the programs for kube-quick (minutes the first time)
kube-build:
	cd live/kube/rig && $(GO) run ./cmd/rig build planes

# kube-quick: the shortest tests of kube-test, without real nodes and third-party controllers
kube-quick: kube-vet kube-build
	cd live/kube/rig && RAPID_SEED=$(SEED) OXGANG_BROWSER=1 $(GO) test -count=1 -p 1 -timeout $(RIGTIME) $(RIGFLAGS) ./api ./audit
	cd live/kube/rig && $(GO) test -count=1 -timeout $(RIGTIME) $(RIGFLAGS) -run '$(QUICK)' ./e2e
QUICK = ^(TestResize|TestInstalled|TestScheduler|TestTenant)

# kube-tenant: random sequences of a tenant's requests on a simulated cluster, and the training of the rig's pods
kube-tenant:
	cd live/kube/rig && RAPID_SEED=$(SEED) $(GO) test -count=1 -p 1 -timeout $(RIGTIME) $(RIGFLAGS) ./tenant ./train

# kube-upgrade: upgrades the chart from earlier commits (or OXGANG_BASE) to this one and rolls it back while jobs run
kube-upgrade: $(HELM) kube-build
	cd live/kube/rig && OXGANG_LONG=1 $(GO) test -count=1 -timeout $(RIGTIME) $(RIGFLAGS) -run '^TestUpgrade$$' -v ./e2e

kube-vet: $(LINT)
	cd live/kube/rig && ../../../$(LINT) run

# A CPU is enough, although the Linux wheel includes CUDA. Versions are pinned; python/requirements.txt has hashes for Python 3.11 on x86_64.
.cache/venv/bin/python:
	python3 -m venv .cache/venv
	@if [ "$$(.cache/venv/bin/python -c 'import platform, sys; print(*sys.version_info[:2], platform.machine())')" = "3 11 x86_64" ]; \
	then cp python/requirements.txt .cache/requirements.txt; \
	else sed '/--hash=/d; s/ *\\$$//' python/requirements.txt > .cache/requirements.txt; fi
	.cache/venv/bin/python -m pip install -q -r .cache/requirements.txt || { rm -rf .cache/venv; exit 1; }

MKDOCS = .cache/docs/bin/mkdocs
## docs: the documentation as a site with search, in bin/site; a dead link fails. Tests of cmd/oxgang run the examples in it
docs: $(MKDOCS)
	NO_MKDOCS_2_WARNING=1 $(MKDOCS) build -f internal/tools/site/mkdocs.yml
	@echo "docs: python3 -m http.server -d bin/site shows it"

$(MKDOCS): internal/tools/site/requirements.txt
	python3 -m venv .cache/docs
	.cache/docs/bin/python -m pip install -q -r $<
	@touch $@

## build: the programs, into bin/
build:
	$(GO) build -o bin/ ./cmd/...

# ---- Measuring

# bench: benchmarks; PKG=./opt/... BENCH=Round to choose
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

# Selects jobs of `make speed` by name: SPEED=fifo.
SPEED ?=

## speed: compares seven jobs with an earlier commit (internal/speed/pin); more than 1.10 times its processor time or memory fails
speed:
	$(GO) run ./internal/speed -jobs '$(SPEED)'

# fuzz: every fuzz target for FUZZTIME (10s); PKG=./simulate/trace to choose, FUZZMINIMIZE=60s for a small input that fails
fuzz:
	@$(GO) test -list '^Fuzz' $(PKG) | awk '/^Fuzz/ { t[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, t[i] } !/^Fuzz/ { n = 0 }' | \
	while read -r pkg target; do \
		echo "fuzz: $$pkg $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime $(FUZZMINIMIZE) "$$pkg" </dev/null || exit 1; \
	done

# The number of bugs that `make mutants` draws beside those of its list.
DRAW ?= 24

## mutants: inserts plausible bugs, one at a time, and prints the test that catches each; fails if less than 95 % of its list are caught
mutants:
	@$(GO) run ./internal/mutants
	@$(GO) run ./internal/mutants -draw $(DRAW)

# The number of simulations of `make soak`.
SOAK ?= 1000000

# soak: simulates one machine with SOAK seeds (1000000: about seven hours of two processors)
soak:
	mkdir -p bin && $(GO) test -c -o bin/soak.test ./live/local
	cd live/local && seq 1 1000 $(SOAK) | xargs -P $$(getconf _NPROCESSORS_ONLN) -I{} env OXGANG_SIM_SEED={} \
		OXGANG_SIM_SEEDS=$$(( $(SOAK) < 1000 ? $(SOAK) : 1000 )) ../../bin/soak.test -test.run '^TestSimulation$$' -test.timeout 0

# ---- Packages and releases

# The rendered chart: for installation without Helm, and with all options on for tests.
RENDER = $(HELM) template oxgang deploy/charts/oxgang --namespace oxgang-system --kube-version 1.36.3

# dist: writes the rendered chart into deploy/dist/install.yaml, for kubectl apply
dist: $(HELM)
	@mkdir -p deploy/dist live/kube/rig/api/testdata
	{ cat deploy/charts/oxgang/ci/namespace.yaml; $(RENDER) --include-crds; } > deploy/dist/install.yaml
	@mkdir -p deploy/dist/rights
	for mode in Recommend Admit Resize; do \
		$(RENDER) --show-only templates/rbac-bindings.yaml --set rbac.mode=$$mode > deploy/dist/rights/$$(echo $$mode | tr A-Z a-z).yaml; done
	$(RENDER) --values deploy/charts/oxgang/ci/full-values.yaml > live/kube/rig/api/testdata/full.yaml

# chart: lints the chart, and fails if make dist changes files
chart: $(HELM)
	$(HELM) lint deploy/charts/oxgang --strict --quiet --kube-version 1.36.3
	$(HELM) lint deploy/charts/oxgang --strict --quiet --kube-version 1.36.3 --values deploy/charts/oxgang/ci/full-values.yaml
	$(HELM) lint deploy/charts/oxgang --strict --quiet --kube-version 1.32.13
	! $(HELM) template oxgang deploy/charts/oxgang --kube-version 1.32.13 | grep MutatingAdmissionPolicy
	@before=$$($(TREE)); $(MAKE) --no-print-directory dist; after=$$($(TREE)); \
	if [ "$$before" != "$$after" ]; then git --no-pager diff --stat; \
		echo "chart: make dist changed files, commit what it wrote" >&2; exit 1; fi

# Released programs need no C library and contain no folders or times, so equal sources give equal bytes.
VERSION ?= $$(git describe --tags --always)
TOOLCHAIN = go1.26.8
RELEASE  = CGO_ENABLED=0 GOTOOLCHAIN=$(TOOLCHAIN) $(GO) build -trimpath -buildvcs=false

# programs: builds the released oxgang and oxgang-scheduler into bin/release
programs:
	$(RELEASE) -ldflags "-s -w -X $(MOD)/cmd/oxgang/cli.release=$(VERSION)" -o bin/release/oxgang ./cmd/oxgang
	$(RELEASE) -ldflags "-s -w -X main.version=$(VERSION)" -o bin/release/oxgang-scheduler ./cmd/oxgang-scheduler

# package: builds the Debian package, with units, manual and completions, into dist/
package: programs
	deploy/packaging/build bin/release/oxgang $(VERSION) dist

# package-check: checks the contents of the package, and installs, runs, upgrades and removes it
package-check: package
	deploy/packaging/check dist/oxgang_$(VERSION)_$$(dpkg --print-architecture).deb $(VERSION)

# upgrade: replaces the scheduler of commit BASE by this one and checks that running jobs continue
upgrade: programs
	@old=$$(mktemp -d); trap 'rm -rf "$$old"' EXIT; git archive $(BASE) | tar x -C "$$old" && \
	(cd "$$old" && $(RELEASE) -o "$$old/oxgang-old" ./cmd/oxgang) && deploy/packaging/upgrade "$$old/oxgang-old" bin/release/oxgang

# images: checks the files that Containerfile copies, and builds both images if docker runs
images: programs
	deploy/packaging/image bin/release/oxgang bin/release/oxgang-scheduler $(VERSION) bin/image
	deploy/packaging/image-check $(VERSION)
	@if docker info >/dev/null 2>&1; then \
		docker build -f deploy/Containerfile --target scheduler --build-arg VERSION=$(VERSION) -t ghcr.io/oxgang/oxgang-scheduler:$(VERSION) . && \
		docker build -f deploy/Containerfile --target oxgang --build-arg VERSION=$(VERSION) -t ghcr.io/oxgang/oxgang:$(VERSION) .; \
	else echo "images: not built: no docker daemon is running"; fi

# sbom: writes the modules of each program as CycloneDX into dist/
sbom: programs bin/cyclonedx-gomod
	@mkdir -p dist
	for program in oxgang oxgang-scheduler; do \
		bin/cyclonedx-gomod bin -json -std -noserial -notimestamp -version $(VERSION) -output dist/$$program.cdx.json bin/release/$$program || exit 1; done

# release: package, programs, SBOM and checksums, signed with KEY, a private key from ssh-keygen
release: package sbom
	@[ -n "$(KEY)" ] || { echo "release: KEY is not set: run make release KEY=FILE with a private key" >&2; exit 1; }
	deploy/packaging/release dist $(VERSION) "$(KEY)"

# reproducible: builds programs and package again in another folder and compares the bytes
reproducible: package
	deploy/packaging/reproducible $(VERSION)

# vulnerabilities: known vulnerabilities in called code (govulncheck); skipped if the database is unreachable
vulnerabilities: bin/govulncheck
	deploy/packaging/vulnerabilities

# gosec: fails for findings of gosec that deploy/packaging/gosec.txt does not answer
gosec: bin/gosec
	deploy/packaging/gosec

## clean: remove what was built
clean:
	rm -rf bin

# The first build takes minutes; the go command caches it.
$(LINT): internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && $(GO) build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

bin/gosec: internal/tools/gosec/go.mod internal/tools/gosec/go.sum
	cd internal/tools/gosec && $(GO) build -o ../../../$@ github.com/securego/gosec/v2/cmd/gosec

bin/cyclonedx-gomod: internal/tools/sbom/go.mod internal/tools/sbom/go.sum
	cd internal/tools/sbom && $(GO) build -o ../../../$@ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

bin/govulncheck: internal/tools/vuln/go.mod internal/tools/vuln/go.sum
	cd internal/tools/vuln && $(GO) build -o ../../../$@ golang.org/x/vuln/cmd/govulncheck

$(HELM): internal/tools/helm/go.mod internal/tools/helm/go.sum
	cd internal/tools/helm && $(GO) build -o ../../../$@ helm.sh/helm/v3/cmd/helm
	@touch $@
