package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A Key is one setting.
type Key struct {
	Name string
	Doc  string
	Kind string // of the value: text, list, int, number, duration, bool, ...
	Flag bool   // bool; as a command-line flag it needs no value
	get  func(*Config) string
	set  func(*Config, string) error
}

// Variable returns the environment variable of the key.
func (k Key) Variable() string {
	return "OXGANG_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.Name))
}

// Option returns the command-line flag of the key, without dashes.
func (k Key) Option() string { return strings.ReplaceAll(k.Name, ".", "-") }

// options are the keys with their own command-line flag. --set sets any key with a dot.
var options = []string{
	"cluster", "scale", "trace", "format", "on-bad-row", "zone", "limit", "profiles", "gpu-like", "generate.kind", "generate.jobs", "generate.span", "generate.load",
	"policy", "set", "placer", "split-penalty", "jobs.rigid", "jobs.elastic", "jobs.scaling-loss", "jobs.checkpoints", "jobs.max-gpus", "jobs.restart", "public",
	"estimate.mode", "estimate.error", "round", "window", "fairness.above", "seed", "horizon", "sim.noise",
}

// HasOption reports whether the key has its own command-line flag.
func (k Key) HasOption() bool { return slices.Contains(options, k.Name) }

// Keys returns every key in documentation order.
func Keys() []Key { return slices.Clone(keys) }

var keys = []Key{
	text("cluster", `GPUs: a preset (`+strings.Join(Clusters(), ", ")+`) or "t4:6x4,a100:2x8/96c/1000g" (type:nodes x GPUs per node / CPU cores / GB of a node). With "/rack@12" twelve neighbouring nodes share a rack, with "/nvlink@4" four share an NVLink domain. A part that ends in "/rent" can be rented by the hour by policies that rent, one in "/spot@0.1" at 30 % of the price, and is taken back 0.1 times an hour; one in "/loan" is lent by an inference cluster to policies that borrow, and three of its GPUs, or two with "/loan@2", do the work of one other`, func(c *Config) *string { return &c.Cluster }),
	number("scale", "times the nodes of the cluster", func(c *Config) *int { return &c.Scale }),
	text("trace", "trace file, or format:file, as shockwave:jobs.csv; empty: a generated one", func(c *Config) *string { return &c.Trace }),
	text("format", "format of the trace; empty: by its content", func(c *Config) *string { return &c.Format }),
	text("on-bad-row", "what a row that cannot be used does: fail or skip", func(c *Config) *string { return &c.OnBadRow }),
	text("zone", "zone of a trace's local times, as Europe/Berlin, UTC, or Local for that of this machine (slurm only); empty: UTC, and it says so", func(c *Config) *string { return &c.Zone }),
	number("limit", "most jobs taken from the trace; 0: all", func(c *Config) *int { return &c.Limit }),
	text("profiles", "folder of measured profiles, of sensitivity profiles if it has a profiles.json, or of measured steps if it has a throughputs_isolated.csv; empty: the embedded fits", func(c *Config) *string { return &c.Profiles }),
	text("profiles.table", "table of measured steps, where the file has several: tacc, wisr, simulation", func(c *Config) *string { return &c.Table }),
	list("gpu-like", `GPU types without profiles, by comma: "h100=a100x2.2" computes 2.2 times as fast as an a100`, func(c *Config) *[]string { return &c.Like }),
	text("generate.kind", "trace to generate if none is given", func(c *Config) *string { return &c.Generate.Kind }),
	number("generate.jobs", "jobs to generate; 0: the kind's number", func(c *Config) *int { return &c.Generate.Jobs }),
	span("generate.span", "time over which generated jobs are submitted; 0: the kind's", func(c *Config) *time.Duration { return &c.Generate.Span }),
	decimal("generate.load", "load that generated fixed-duration jobs offer, or synergy jobs an hour; 0: the kind's", func(c *Config) *float64 { return &c.Generate.Load }),
	text("generate.split", "parts of image-language-speech of Synergy's kinds, as 20-70-10; empty: the kind's", func(c *Config) *string { return &c.Generate.Split }),
	flag("generate.multi-gpu", "jobs of Synergy's kinds ask for 1 to 16 GPUs as in Philly, not for 1", func(c *Config) *bool { return &c.Generate.MultiGPU }),
	list("policy", "policies to compare, by comma", func(c *Config) *[]string { return &c.Policies }),
	list("set", `settings by comma: of policies, "p=-1" or "sia.p=-1", or keys of the configuration with a dot, "sim.bias=0.1" (oxgang config lists the keys)`, func(c *Config) *[]string { return &c.Settings }),
	text("placer", "how placements are found; empty: as the policy prefers", func(c *Config) *string { return &c.Placer }),
	decimal("split-penalty", "part of its speed that placer pack believes a job to lose where it is split over nodes; 1: never split to have more CPUs or memory", func(c *Config) *float64 { return &c.Penalty }),
	list("jobs.applications", "only jobs of these applications, by comma; empty: all jobs", func(c *Config) *[]string { return &c.Jobs.Applications }),
	decimal("jobs.burstiness", "jobs come anew, in their order and at the trace's mean rate, in bursts: squared coefficient of variation of the times between them, 1 (Poisson) to 60; 0: as in the trace", func(c *Config) *float64 { return &c.Jobs.Burstiness }),
	decimal("jobs.rigid", "share of jobs made rigid; 1: none scales, those neither that the trace has elastic", func(c *Config) *float64 { return &c.Jobs.Rigid }),
	decimal("jobs.strong-scaling", "share of jobs made strong-scaling", func(c *Config) *float64 { return &c.Jobs.StrongScaling }),
	decimal("jobs.static", "share of jobs with a schedule of batch sizes that keep their first one", func(c *Config) *float64 { return &c.Jobs.Static }),
	number("jobs.max-gpus", "most GPUs of an adaptive job; 0: no limit", func(c *Config) *int { return &c.Jobs.MaxGPUs }),
	decimal("jobs.fungible", "share of jobs that may run on nodes on loan; -1: those that the trace says", func(c *Config) *float64 { return &c.Jobs.Fungible }),
	decimal("jobs.elastic", "share of jobs known by their duration that are made elastic, beside those that are: on what they ask for to twice that, at no cost", func(c *Config) *float64 { return &c.Jobs.Elastic }),
	decimal("jobs.scaling-loss", "what each GPU beyond those that an elastic job asks for adds less than those do, 0 to 1, of jobs known by their duration; 0: as the trace says, or else nothing", func(c *Config) *float64 { return &c.Jobs.ScalingLoss }),
	decimal("jobs.checkpoints", "share of jobs with checkpoints; others begin anew when they were preempted. -1: those that the trace says", func(c *Config) *float64 { return &c.Jobs.Checkpoints }),
	decimal("jobs.wrong-times", "share of jobs known by their duration of which policies believe another one", func(c *Config) *float64 { return &c.Jobs.WrongTimes }),
	decimal("jobs.wrong-by", "part of it by which a wrong duration is too long or too short at most; errors are uniform", func(c *Config) *float64 { return &c.Jobs.WrongBy }),
	decimal("jobs.wrong-size", "what jobs state of their work is times exp(this N(0, 1)), where their application knows the true one; 0: they state that", func(c *Config) *float64 { return &c.Jobs.WrongSize }),
	decimal("jobs.heterogeneous", "share of jobs known by their duration that may run on GPUs of two types at once, those of nodes on loan among them; -1: those that the trace says", func(c *Config) *float64 { return &c.Jobs.Heterogeneous }),
	decimal("jobs.mixed-speed", "share of its speed that is left to such a job while it does, more than 0 to 1; what the trace says of a job comes first", func(c *Config) *float64 { return &c.Jobs.MixedSpeed }),
	restart("jobs.restart", "time that every start and move costs; empty: what the application says"),
	flag("jobs.free-start", "the first start of a job costs nothing, as in traces whose running times have it in them", func(c *Config) *bool { return &c.Sim.FreeStart }),
	flag("jobs.same-durations", "jobs that wait for input last as long with the GPU-proportional share here as with 3 CPUs and 62.5 GB per GPU, for which Synergy's traces are written", func(c *Config) *bool { return &c.Jobs.SameDurations }),
	flag("jobs.slowdown", "divide true goodput by the public simulator's constants per model", func(c *Config) *bool { return &c.Jobs.Slowdown }),
	flag("public", "all rules of the public Sia simulator that the thesis does not have", func(c *Config) *bool { return &c.Public }),
	text("estimate.mode", "what is believed before a run: bootstrap, no-prof, oracle, public-code", func(c *Config) *string { return &c.Estimate }),
	decimal("estimate.smoothing", "weight of the past in gradient statistics, 0 to 1", func(c *Config) *float64 { return &c.Scheduler.Estimate.Smoothing }),
	flag("estimate.share", "jobs of a class learn together", func(c *Config) *bool { return &c.Scheduler.Estimate.Share }),
	flag("estimate.verify", "what a job says of itself gains it little that it has not shown", func(c *Config) *bool { return &c.Scheduler.Estimate.Verify }),
	decimal("estimate.error", "wrong beliefs: the speed of each class on each number of GPUs is times exp(this N(0, 1)); 0: right ones", func(c *Config) *float64 { return &c.Scheduler.Estimate.Error }),
	text("estimate.classes", "what policies that ask for it are shown of classes: learned, or known, the truth of the whole trace", func(c *Config) *string { return &c.Classes }),
	span("round", "time between plans", func(c *Config) *time.Duration { return &c.Scheduler.Round }),
	span("scheduler.first", "time until the first plan; 0: a round", func(c *Config) *time.Duration { return &c.Scheduler.First }),
	flag("scheduler.profile", "take one-GPU profiles before the first plan", func(c *Config) *bool { return &c.Scheduler.Profile }),
	flag("scheduler.on-submit", "rounds soon after submissions, in which jobs that run keep what they hold, as live schedulers have", func(c *Config) *bool { return &c.Scheduler.OnSubmit }),
	span("scheduler.on-event", "rounds half a second after a job comes or ends, but no sooner than so long after the last round; 0: none", func(c *Config) *time.Duration { return &c.Scheduler.OnEvent }),
	flag("scheduler.free-moves", "moving to other nodes in the same shape costs nothing", func(c *Config) *bool { return &c.Scheduler.FreeMoves }),
	jobRange("window", `jobs that are measured, by order of submission: "4000-4999"; the run ends when they have. Empty: all`),
	list("measure.skip-queues", `jobs of these queues run and are not measured, by comma. Readers of traces put jobs that run already at the start into queue `+workload.Warm, func(c *Config) *[]string { return &c.Skipped }),
	text("fairness.rho", "what rho compares a job's completion time with: isolated (Sia), alone on its share of the GPUs by the jobs there were in its life; static (public Shockwave code), alone on the GPUs it asks for, times the jobs of the trace per GPU. Empty: static where all jobs have a schedule of batch sizes", func(c *Config) *string { return &c.Fairness.Rho }),
	decimal("fairness.above", "rho above which a job counts as unfairly scheduled; Shockwave's plots have 1.1", func(c *Config) *float64 { return &c.Fairness.Above }),
	natural("seed", "seed of everything random", func(c *Config) *uint64 { return &c.Sim.Seed }),
	span("horizon", "the run ends here; 0: when all jobs have ended", func(c *Config) *time.Duration { return &c.Horizon }),
	span("sim.report-interval", "time between reports of a job's agent", func(c *Config) *time.Duration { return &c.Sim.ReportInterval }),
	decimal("sim.cross-rack", "how many times as long gradients are exchanged between racks as within one; 0 or 1: no longer", func(c *Config) *float64 { return &c.Sim.CrossRack }),
	span("sim.checkpoint", "time between checkpoints; 0: every epoch", func(c *Config) *time.Duration { return &c.Sim.Checkpoint }),
	flag("sim.round-epochs", "the rest of an epoch takes a whole number of seconds (public rule)", func(c *Config) *bool { return &c.Sim.Public.RoundEpochs }),
	flag("sim.retune-on-epoch", "batch sizes are chosen anew at the end of every epoch (public rule)", func(c *Config) *bool { return &c.Sim.Public.RetuneOnEpoch }),
	flag("sim.wide-batch-range", "agents use all batch sizes that were profiled (public rule)", func(c *Config) *bool { return &c.Sim.Public.WideBatchRange }),
	flag("sim.exit-on-round", "what jobs did in a round counts at its end; until then jobs that are done keep their GPUs (public rule)", func(c *Config) *bool { return &c.Sim.Public.ExitOnRound }),
	flag("sim.whole-iterations", "an iteration that a round does not complete is lost (public rule)", func(c *Config) *bool { return &c.Sim.Public.WholeIterations }),
	flag("sim.whole-rounds", "jobs make whole steps in a round, which ends with the last of them; starts take no time (public rule)", func(c *Config) *bool { return &c.Sim.Public.WholeRounds }),
	span("sim.resume-loss", "training that a job loses in a full round if it did not run in the one before; with whole rounds (public rule)", func(c *Config) *time.Duration { return &c.Sim.Public.ResumeLoss }),
	flag("sim.late-regimes", "jobs with a schedule change their batch size a round after they asked for it; with whole rounds (public rule)", func(c *Config) *bool { return &c.Sim.Public.LateRegimes }),
	decimal("sim.noise", "relative standard deviation of reported times", func(c *Config) *float64 { return &c.Sim.Noise.Report }),
	decimal("sim.bias", "the same, once per job and GPU type: wrong estimates", func(c *Config) *float64 { return &c.Sim.Noise.Bias }),
	decimal("sim.straggler", "probability that a start lands on slow GPUs", func(c *Config) *float64 { return &c.Sim.Noise.Straggler }),
	decimal("sim.slow", "how many times as long slow GPUs take", func(c *Config) *float64 { return &c.Sim.Noise.Slow }),
	span("sim.node-mtbf", "mean time between failures of a node; 0: never", func(c *Config) *time.Duration { return &c.Sim.Faults.NodeMTBF }),
	span("sim.repair", "time until a failed node is back", func(c *Config) *time.Duration { return &c.Sim.Faults.Repair }),
	span("sim.gpu-mtbf", "mean time between failures of a GPU; 0: never", func(c *Config) *time.Duration { return &c.Sim.Faults.GPUMTBF }),
	span("sim.start", "time from the order of a rented node until it is there", func(c *Config) *time.Duration { return &c.Sim.Provider.Start }),
	span("sim.release", "time from giving a rented node back until it is paid no more", func(c *Config) *time.Duration { return &c.Sim.Provider.Release }),
	decimal("sim.refuse", "probability that the order of a node is refused", func(c *Config) *float64 { return &c.Sim.Provider.Refuse }),
	span("sim.notice", "time from the notice that a spot node is taken back until it is gone", func(c *Config) *time.Duration { return &c.Sim.Provider.Notice }),
	text("lender.load", "file of the load curve of the owner of nodes on loan, with columns t_s and busy_frac; empty: one like Lyra's, from the seed", func(c *Config) *string { return &c.Lender.Load }),
	text("lender.between", `trough and peak to which the load curve is moved, as shares of the GPUs: "0.42-0.95"; empty: as it is`, func(c *Config) *string { return &c.Lender.Between }),
	text("lender.forecast", "how the owner of nodes on loan looks ahead: "+wantForecast, func(c *Config) *string { return &c.Lender.Forecast }),
	span("lender.interval", "how often the owner of nodes on loan looks at what it needs", func(c *Config) *time.Duration { return &c.Sim.Lender.Interval }),
	decimal("lender.headroom", "share of the GPUs that can be lent that is never lent", func(c *Config) *float64 { return &c.Sim.Lender.Headroom }),
	span("lender.grace", "time from asking for nodes on loan until those that are not back are taken by force", func(c *Config) *time.Duration { return &c.Sim.Lender.Grace }),
	windows("sim.maintenance", `times in which nodes are away, by comma: "t4-0+t4-1@2h-3h"`),
}

func text(name, doc string, at func(*Config) *string) Key {
	return Key{Name: name, Doc: doc, Kind: "text", get: func(c *Config) string { return *at(c) }, set: func(c *Config, v string) error { *at(c) = v; return nil }}
}

func list(name, doc string, at func(*Config) *[]string) Key {
	return Key{
		Name: name, Doc: doc, Kind: "list",
		get: func(c *Config) string { return strings.Join(*at(c), ",") },
		set: func(c *Config, v string) error { *at(c) = split(v); return nil },
	}
}

func split(v string) []string {
	var parts []string
	for p := range strings.SplitSeq(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

func number(name, doc string, at func(*Config) *int) Key {
	return parsed(Key{Name: name, Doc: doc, Kind: "int"}, at, "a whole number of at least 0", func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err == nil && n < 0 {
			err = strconv.ErrRange
		}
		return n, err
	})
}

func natural(name, doc string, at func(*Config) *uint64) Key {
	return parsed(Key{Name: name, Doc: doc, Kind: "int"}, at, "a whole number of at least 0", func(v string) (uint64, error) { return strconv.ParseUint(v, 10, 64) })
}

func decimal(name, doc string, at func(*Config) *float64) Key {
	return parsed(Key{Name: name, Doc: doc, Kind: "number"}, at, "a finite number", func(v string) (float64, error) {
		x, err := strconv.ParseFloat(v, 64)
		if err == nil && x-x != 0 {
			err = strconv.ErrRange
		}
		return x, err
	})
}

func flag(name, doc string, at func(*Config) *bool) Key {
	k := parsed(Key{Name: name, Doc: doc, Kind: "bool"}, at, "true or false", strconv.ParseBool)
	k.Flag = true
	return k
}

func span(name, doc string, at func(*Config) *time.Duration) Key {
	return parsed(Key{Name: name, Doc: doc, Kind: "duration"}, at, `a duration such as "90s" or "1h30m"`, time.ParseDuration)
}

// parsed completes a key whose value has one textual form.
func parsed[T any](k Key, at func(*Config) *T, want string, parse func(string) (T, error)) Key {
	k.get = func(c *Config) string { return fmt.Sprint(*at(c)) }
	k.set = func(c *Config, v string) error {
		x, err := parse(v)
		if err != nil {
			return fmt.Errorf("got %q, want %s", v, want)
		}
		*at(c) = x
		return nil
	}
	return k
}

// didYouMean suggests known keys similar to an unknown one.
func didYouMean(key string) string {
	var like []string
	for _, k := range keys {
		if _, last, _ := cutLast(k.Name); strings.Contains(k.Name, key) || strings.Contains(key, last) {
			like = append(like, k.Name)
		}
	}
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(like[:min(3, len(like))], ", ") + "?"
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}
