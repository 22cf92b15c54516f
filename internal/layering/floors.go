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
	topTower = 9
	beside   = 10 // opt: imports only itself, the standard library and its solver
	testOnly = 11 // conformance suites and test helpers: only tests import them
)

// rooms says on which floor each package stands: design.md, section 3. An
// exact name wins over a pattern, and a longer pattern over a shorter one.
var rooms = []room{
	{"cmd/...", 9}, // programs
	{"internal/apidoc", 9},
	{"internal/papersdoc", 9},
	{"internal/fitcatalog", 9},

	{"casestudy/...", 8}, // windows; the composed options
	{"casestudy/page", 7},
	{"casestudy/usage", 7},
	{"report", 8},
	{"budget", 8},
	{"config", 8},
	{"explain", 8},
	{"live/control", 8},
	{"experiments", 8},
	{"whatif", 8},

	{"sim", 7}, // worlds, observers
	{"live/...", 7},
	{"live/serve", 8},
	{"live/kube/manager", 8},
	{"live/kube/pods", 6},
	{"journal", 7},
	{"metrics", 7},

	{"scheduler", 6}, // the machine and its table
	{"api/...", 6},
	{"policy/builtin", 6},

	{"policy/...", 5}, // decisions; file formats; kinds of placer
	{"placement/...", 5},
	{"trace", 5},

	{"placement", 4}, // where; what comes
	{"placement/bestfit", 4},
	{"policy/lyra/allocate", 4}, // parts of a policy
	{"policy/lyra/reclaim", 4},
	{"placement/hostalloc", 4},
	{"policy/queue", 4}, // its orders are other policies' too
	{"workload", 4},

	{"policy", 3}, // the question and the answer
	{"fairness", 3},
	{"perf/estimate", 3},
	{"perf/regime", 3},
	{"perf/profile", 3},

	{"perf", 2}, // how fast
	{"perf/remaining", 2},
	{"forecast", 2}, // how busy others will be
	{"job", 1},      // what
	{"cluster", 0},  // on what

	{"internal/rng", cellar},
	{"internal/near", cellar},

	{"opt/...", beside},

	{"policy/policytest", testOnly},
	{"placement/placementtest", testOnly},
	{"live/control/controltest", testOnly},
	{"live/kube/kubetest", testOnly},
	{"scheduler/schedulertest", testOnly},
	{"opt/lp/lptest", testOnly},
	{"internal/testdata", testOnly},
	{"internal/doctable", testOnly},
	{"internal/draws", testOnly},
	{"internal/layering", testOnly},
	{"internal/seeded", testOnly},
}

// An exception allows what the rules forbid: the packages that from matches
// may import what to matches. Patterns are as in rooms, except that a package
// outside the module goes by its full path.
type exception struct {
	from, to string
	why      string
}

// exceptions are the arrows that the rules forbid and the house has.
var exceptions = []exception{
	{"internal/rng", "math/rand/v2", "it is the one door to random numbers"},
	{"opt/...", "sync/...", "a kernel may be parallel within one call"},
	{"opt/exact", "github.com/bartolsthoorn/gohighs/...", "its solver"},
	{"live/local", "live/...", "the world of one machine stands on its parts: store, keepers, devices, agents"},
	{"live/record", "journal", "it keeps one in a file"},
	{"live/kube", "live/...", "the world of a Kubernetes cluster stands on its parts: kinds of job, inventory, claims"},
	{"live/kube/config", "live/kube/...", "its options name formats of jobs and the inventory"},
	{"live/kube/jobstate", "live/...", "a job's state holds what its object and its program say"},
	{"live/kube/observe", "live/kube/...", "it parses objects by formats of jobs and the inventory"},
	{"live/kube/planstore", "live/kube/...", "it writes the states of jobs"},
	{"live/kube/execute", "live/kube/...", "steps follow from an observation, the plan and the states of jobs"},
	{"live/kube/nodepool", "live/kube/...", "its nodes are observed, planned and written"},
	{"live/kube/pods", "k8s.io/...", "it reads pods"},
	{"live/kube/manager", "explain", "it says why"},
	{"live/kube/manager", "whatif", "it says when"},
	{"api/...", "k8s.io/...", "it is what Kubernetes stores"},
	{"live/serve", "live/control", "it answers the command line"},
	{"live/serve", "explain", "it says why"},
	{"live/serve", "whatif", "it says when"},
	{"experiments", "config", "an experiment is a list of configurations to run"},
	{"casestudy/...", "opt/...", "it stands on opt alone"},
	{"budget", "opt/convex", "what it shows is plans and frontiers of it"},
	{"cmd/oxgang", "opt/...", "oxgang lp solves linear programs with each solver"},
}

// impure are the packages outside the module that no package of floors up to
// topPure, of the cellar or of opt imports.
var impure = []string{"os/...", "net/http/...", "math/rand/...", "sync/...", "k8s.io/..."}
