package layering

// A room is one line of the floor table: a package, or a pattern ending in
// "/..." for every package below a folder, and the floor it stands on.
type room struct {
	name  string // import path below the module
	floor int
}

// Floors that are not part of the tower.
const (
	cellar   = -1 // below the tower: every floor may import it
	topPure  = 6  // up to here a package does no I/O and keeps no clock
	programs = 16 // from here up: programs and their commands
	topTower = 20
	beside   = 30 // opt: imports only itself, the standard library and its solver
	wing     = 31 // what serves only comparison with papers: see guests
	testOnly = 32 // conformance suites and test helpers: only tests import them
)

// rooms says on which floor each package stands: design.md, section 3. An
// exact name wins over a pattern, and a longer pattern over a shorter one.
var rooms = []room{
	{"cmd/...", 20}, // programs
	{"internal/affected", 20},
	{"internal/mutants", 20},
	{"internal/speed", 20},
	{"internal/apidoc", 20},
	{"internal/papersdoc", 20},
	{"internal/reasonsdoc", 20},

	{"cmd/oxgang/command", 19}, // the command line as a whole

	{"cmd/oxgang/simulate", 18}, // their commands
	{"cmd/oxgang/study", 18},
	{"cmd/oxgang/machine", 17},
	{"cmd/oxgang/kube", 17},
	{"cmd/oxgang/slurm", 17},
	{"cmd/oxgang/cli", 16},

	{"live/serve", 15}, // schedulers of live worlds
	{"live/kube/manager", 15},
	{"live/slurm/service", 16},
	{"live/slurm/advise", 15},

	{"live/overview", 15},
	{"live/slurm/overview", 15},
	{"live/kube/overview", 15},
	{"page", 14},        // shows explanations
	{"live/driver", 14}, // what they share; every policy on every workload
	{"experiments/crosstable", 14},
	{"experiments/sweep", 14},

	{"experiments", 13}, // what runs, or speaks of, worlds
	{"explain", 13},
	{"whatif", 13},

	{"live/kube", 12}, // live worlds, on their parts, which stand on each other
	{"live/local", 12},
	{"live/slurm", 12},
	{"live/kube/nodepool", 11},
	{"live/kube/execute", 10},
	{"live/kube/observe", 9},
	{"live/kube/planstore", 9},
	{"live/kube/config", 8},
	{"live/kube/jobstate", 8},
	{"live/kube/pages", 8},
	{"live/kube/watched", 8},
	{"live/local/observe", 9},
	{"live/slurm/view", 8},
	{"live/slurm/execute", 9},
	{"live/slurm/observe", 8},
	{"live/slurm/batch", 8},
	{"live/slurm/said", 8},
	{"live/local/backup", 11},
	{"live/local/recovery", 10},
	{"live/control", 10}, // asks for retention
	{"live/local/execute", 9},
	{"live/local/retention", 9},
	{"live/store", 8}, // jobs have users
	{"live/local/folders", 8},
	{"live/supervisor", 8},

	{"report/tabular", 7},
	{"report", 8}, // windows; the composed options
	{"config", 8},
	{"live/record", 8},
	{"live/monitor", 8}, // has a ledger

	{"sim", 7}, // the simulated world, observers, parts of live worlds
	{"live/...", 7},
	{"journal", 7},
	{"metrics", 7},
	{"metrics/lowerbound", 7},
	{"metrics/verdict", 7},
	{"metrics/resample", 6}, // statistics alone
	{"metrics/interval", 6},
	{"ledger", 7},

	{"explain/counterfactual", 7}, // what would change a decision
	{"whatif/calibration", 7},     // how far off predictions were

	{"policy/builtin", 7},  // the policies by name
	{"policy/external", 7}, // one that observes its run, too

	{"scheduler", 6}, // the machine and its table; Kubernetes' nouns; what is computed of one policy
	{"api/...", 6},
	{"live/kube/pods", 6},
	{"live/kube/kept", 7},
	{"live/slurm/token", 6},
	{"live/kube/question", 6}, // words that the scheduler and who asks it share
	{"policy/synergy", 6},     // these two stand on the queue
	{"policy/fallback", 6},
	{"policy/oxgang", 6}, // stands on boa
	{"budget", 6},

	{"policy/...", 5}, // decisions; file formats; kinds of placer
	{"placement/...", 5},
	{"trace", 6},
	{"trace/parse", 5},
	{"trace/slurm", 6},
	{"workload/generate", 5},
	{"workload/extrapolate", 5},
	{"workload/sensitivity", 5},

	{"placement", 4}, // where; what comes
	{"placement/bestfit", 4},
	{"policy/lyra/allocate", 4}, // parts of a policy
	{"placement/hostalloc", 4},
	{"policy/reclaim", 4},
	{"policy/grant", 4}, // what policies make plans with
	{"policy/goodput", 4},
	{"workload", 4},
	{"workload/inference", 4},

	{"policy", 3}, // the question and the answer
	{"fairness", 3},
	{"perf/estimate", 3},
	{"perf/regime", 3},
	{"perf/profile", 3},

	{"perf", 2}, // how fast
	{"perf/remaining", 2},
	{"perf/locality", 2},
	{"forecast", 2}, // how busy others will be
	{"job", 1},      // what
	{"cluster", 0},  // on what

	{"internal/rng", cellar},
	{"internal/deepcopy", cellar},
	{"internal/near", cellar},
	{"internal/packed", cellar},
	{"internal/printable", cellar},

	{"opt/...", beside},
	{"reference/...", wing},

	{"explain/explaintest", testOnly},
	{"policy/policytest", testOnly},
	{"placement/placementtest", testOnly},
	{"live/agentapi/agenttest", testOnly},
	{"live/control/controltest", testOnly},
	{"live/kube/kubetest", testOnly},
	{"live/slurm/slurmrig", testOnly},
	{"live/slurm/slurmtest", testOnly},
	{"scheduler/schedulertest", testOnly},
	{"opt/lp/lptest", testOnly},
	{"internal/chromium", testOnly},
	{"internal/testdata", testOnly},
	{"internal/doctable", testOnly},
	{"internal/draws", testOnly},
	{"internal/glossary", testOnly},
	{"internal/layering", testOnly},
	{"internal/seeded", testOnly},
	{"internal/simdisk", testOnly},
}

// An exception allows what the rules forbid: the packages that from matches
// may import what to matches. Patterns are as in rooms, except that a package
// outside the module goes by its full path.
type exception struct {
	from, to string
	why      string
}

// maxExceptions is how many lines exceptions may have.
const maxExceptions = 8

// exceptions are the imports that exist although the rules forbid them.
var exceptions = []exception{
	{"trace", "trace/slurm", "a format is a part of trace, and parse has the floor below"},
}

// guests are the packages that may import the reference wing: the programs, and what
// reproduces the papers' figures. All others do without it, so that nobody who reads
// how Oxgang decides has to read what it is only compared with.
var guests = []string{"cmd/...", "experiments/..."}

// A confinement allows only a few rooms to import some packages outside the module. No other room of
// floors up to topPure, of the cellar or of opt may import them; higher floors may.
type confinement struct {
	packages string // a pattern, by the full path
	only     []string
	why      string // what the rooms of only are there for; empty without them
}

// confined lists what the pure floors may import in a few rooms only, or nowhere: they do no I/O,
// have no state that goroutines share, draw random numbers only from named streams, and do not
// depend on Kubernetes.
var confined = []confinement{
	{packages: "os/..."},
	{packages: "net/http/..."},
	{"math/rand/...", []string{"internal/rng"}, "random numbers come from its streams"},
	{"sync/...", []string{"opt/...", "policy/goodput"}, "a kernel may be parallel within one call"},
	{"k8s.io/...", []string{"api/...", "live/kube/pods"}, "they are the nouns of Kubernetes: what is stored, and pods"},
	{"github.com/bartolsthoorn/gohighs/...", []string{"opt/exact"}, "it is the solver that opt/exact calls"},
}
