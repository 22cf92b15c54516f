package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A Key describes one setting: its name, kind and documentation.
type Key struct {
	Name string
	Doc  string
	Kind string // of the value: text, list, int, number, duration, bool, ...
	Flag bool   // a bool, whose command-line flag needs no value
	get  func(*Config) string
	set  func(*Config, string) error
}

func (k Key) variable() string {
	return "OXGANG_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.Name))
}

// Option returns the name of the command-line flag that sets the key, without dashes.
func (k Key) Option() string { return strings.ReplaceAll(k.Name, ".", "-") }

// options are the keys with their own command-line flag. --set sets any key with a dot.
var options = []string{
	"cluster", "scale", "trace", "format", "on-bad-row", "mapping", "zone", "limit", "profiles", "gpu-like", "generate.kind", "generate.jobs", "generate.span", "generate.load",
	"policy", "set", "placer", "split-penalty", "jobs.rigid", "jobs.elastic", "jobs.scaling-loss", "jobs.checkpoints", "jobs.max-gpus", "jobs.restart", "public",
	"estimate.mode", "estimate.error", "round", "window", "fairness.above", "seed", "horizon", "sim.noise",
}

// HasOption reports whether the key has its own command-line flag.
func (k Key) HasOption() bool { return slices.Contains(options, k.Name) }

// Keys returns every key, in the order of the documentation.
func Keys() []Key { return slices.Clone(keys) }

var keys = slices.Concat(inputKeys, jobKeys, runKeys, simKeys)

var inputKeys = []Key{
	text("cluster", `GPUs: a preset (`+strings.Join(Clusters(), ", ")+`) or "t4:6x4,a100:2x8/96c/1000g" (type:nodes x GPUs per node / CPU cores / GB of a node). "/rack@12": 12 neighbouring nodes share a rack; "/nvlink@4": 4 share an NVLink domain. Nodes of a part that ends in "/rent" are rented by the hour by policies that rent; in "/spot@0.1", at 30 % of the price, and reclaimed 0.1 times per hour; in "/loan", lent by an inference cluster to policies that borrow, and 3 of their GPUs (2 with "/loan@2") do the work of one other GPU`, func(c *Config) *string { return &c.Cluster }),
	number("scale", "factor on the number of nodes of the cluster", func(c *Config) *int { return &c.Scale }),
	text("trace", "trace file, or format:file (shockwave:jobs.csv); empty: generate a trace", func(c *Config) *string { return &c.Trace }),
	text("format", "format of the trace; empty: detect it", func(c *Config) *string { return &c.Format }),
	text("on-bad-row", "action on an unusable row: fail, skip, or few (skip, unless more than 1 % of rows are unusable)", func(c *Config) *string { return &c.OnBadRow }),
	text("mapping", "file that states what the columns of a trace mean, for tables of no known format; empty: none", func(c *Config) *string { return &c.Mapping }),
	text("zone", "time zone of a trace's local times: Europe/Berlin, UTC, or Local for this machine's zone (slurm only); empty: UTC, with a note", func(c *Config) *string { return &c.Zone }),
	number("limit", "number of jobs to read from the trace; 0: all", func(c *Config) *int { return &c.Limit }),
	text("profiles", "folder of measured profiles; with a profiles.json: of sensitivity profiles; with a throughputs_isolated.csv: of measured steps; empty: embedded profiles", func(c *Config) *string { return &c.Profiles }),
	text("profiles.table", "table of measured steps, if the file has several: tacc, wisr, simulation", func(c *Config) *string { return &c.Table }),
	list("gpu-like", `GPU types without profiles, comma-separated: "h100=a100x2.2" computes 2.2 times as fast as an a100`, func(c *Config) *[]string { return &c.Like }),
	text("generate.kind", "kind of trace to generate if none is given", func(c *Config) *string { return &c.Generate.Kind }),
	number("generate.jobs", "number of jobs to generate; 0: default of the kind", func(c *Config) *int { return &c.Generate.Jobs }),
	span("generate.span", "time over which generated jobs are submitted; 0: default of the kind", func(c *Config) *time.Duration { return &c.Generate.Span }),
	decimal("generate.load", "load of generated fixed-duration jobs, or synergy jobs per hour; 0: default of the kind", func(c *Config) *float64 { return &c.Generate.Load }),
	text("generate.split", "parts of image-language-speech of Synergy's kinds (20-70-10); empty: default of the kind", func(c *Config) *string { return &c.Generate.Split }),
	flag("generate.multi-gpu", "jobs of Synergy's kinds request 1 to 16 GPUs as in Philly, instead of 1", func(c *Config) *bool { return &c.Generate.MultiGPU }),
	list("policy", "policies to compare, comma-separated", func(c *Config) *[]string { return &c.Policies }),
	list("set", `comma-separated settings of policies ("p=-1" or "sia.p=-1"), or configuration keys with a dot ("sim.bias=0.1"; oxgang config lists the keys)`, func(c *Config) *[]string { return &c.Settings }),
	text("placer", "placer; empty: the policy's default", func(c *Config) *string { return &c.Placer }),
	decimal("split-penalty", "relative loss of speed that placer pack assumes for a job split over nodes; 1: never split to get more CPUs or memory", func(c *Config) *float64 { return &c.Penalty }),
}

var jobKeys = []Key{
	list("jobs.applications", "use only jobs of these applications, comma-separated; empty: all jobs", func(c *Config) *[]string { return &c.Jobs.Applications }),
	decimal("jobs.burstiness", "redraw arrival times in bursts, with the trace's order and mean rate: squared coefficient of variation of the times between jobs, 1 (Poisson) to 60; 0: times of the trace", func(c *Config) *float64 { return &c.Jobs.Burstiness }),
	decimal("jobs.rigid", "share of jobs made rigid; 1: all, including elastic jobs of the trace", func(c *Config) *float64 { return &c.Jobs.Rigid }),
	decimal("jobs.strong-scaling", "share of jobs made strong-scaling", func(c *Config) *float64 { return &c.Jobs.StrongScaling }),
	decimal("jobs.static", "share of jobs with a batch size schedule that keep their first batch size", func(c *Config) *float64 { return &c.Jobs.Static }),
	number("jobs.max-gpus", "most GPUs of an adaptive job; 0: no limit", func(c *Config) *int { return &c.Jobs.MaxGPUs }),
	decimal("jobs.fungible", "share of jobs that may run on loaned nodes; -1: from the trace", func(c *Config) *float64 { return &c.Jobs.Fungible }),
	decimal("jobs.elastic", "share of jobs known by their duration that are made elastic: on their requested GPUs to twice as many, resized at no cost", func(c *Config) *float64 { return &c.Jobs.Elastic }),
	decimal("jobs.scaling-loss", "fractional speed loss for each GPU beyond the request of an elastic job known by its duration, 0 to 1; 0: from the trace, or no loss", func(c *Config) *float64 { return &c.Jobs.ScalingLoss }),
	decimal("jobs.checkpoints", "share of jobs with checkpoints; other jobs restart from the beginning when preempted. -1: from the trace", func(c *Config) *float64 { return &c.Jobs.Checkpoints }),
	decimal("jobs.wrong-times", "share of jobs known by their duration for which policies get a wrong duration", func(c *Config) *float64 { return &c.Jobs.WrongTimes }),
	decimal("jobs.wrong-by", "largest relative error of a wrong duration; errors are uniform", func(c *Config) *float64 { return &c.Jobs.WrongBy }),
	decimal("jobs.wrong-size", "the stated work of jobs is multiplied by exp(this N(0, 1)) if the true work is known; 0: stated correctly", func(c *Config) *float64 { return &c.Jobs.WrongSize }),
	decimal("jobs.heterogeneous", "share of jobs known by their duration that may run on GPUs of two types at once, including loaned ones; -1: from the trace", func(c *Config) *float64 { return &c.Jobs.Heterogeneous }),
	decimal("jobs.mixed-speed", "relative speed of such a job on two types, above 0 to 1; a value in the trace takes precedence", func(c *Config) *float64 { return &c.Jobs.MixedSpeed }),
	restart("jobs.restart", "time of every start and move; empty: set by the application"),
	flag("jobs.free-start", "the first start of a job is free, as in traces whose running times include it", func(c *Config) *bool { return &c.Sim.FreeStart }),
	flag("jobs.same-durations", "jobs that wait for input last as long with the GPU-proportional share here as with the 3 CPUs and 62.5 GB per GPU of Synergy's traces", func(c *Config) *bool { return &c.Jobs.SameDurations }),
	flag("jobs.slowdown", "divide true goodput by the public simulator's constants per model", func(c *Config) *bool { return &c.Jobs.Slowdown }),
	flag("public", "use all rules of the public Sia simulator that differ from the thesis", func(c *Config) *bool { return &c.Public }),
	text("estimate.mode", "source of speed estimates before a run: bootstrap, no-prof, oracle, public-code", func(c *Config) *string { return &c.Estimate }),
	decimal("estimate.smoothing", "weight of the past in gradient statistics, 0 to 1", func(c *Config) *float64 { return &c.Scheduler.Estimate.Smoothing }),
	flag("estimate.share", "jobs of a class learn together", func(c *Config) *bool { return &c.Scheduler.Estimate.Share }),
	flag("estimate.verify", "limit what jobs can gain by false reports", func(c *Config) *bool { return &c.Scheduler.Estimate.Verify }),
	decimal("estimate.error", "artificial error: the estimated speed of each class on each number of GPUs is multiplied by exp(this N(0, 1)); 0: none", func(c *Config) *float64 { return &c.Scheduler.Estimate.Error }),
	text("estimate.classes", "class statistics for policies that use them: learned, or known (true values of the whole trace)", func(c *Config) *string { return &c.Classes }),
}

var runKeys = []Key{
	span("round", "time between plans", func(c *Config) *time.Duration { return &c.Scheduler.Round }),
	span("scheduler.first", "time until the first plan; 0: a round", func(c *Config) *time.Duration { return &c.Scheduler.First }),
	flag("scheduler.profile", "take one-GPU profiles before the first plan", func(c *Config) *bool { return &c.Scheduler.Profile }),
	flag("scheduler.on-submit", "additional rounds soon after submissions, in which running jobs keep their GPUs, as in live schedulers", func(c *Config) *bool { return &c.Scheduler.OnSubmit }),
	span("scheduler.on-event", "additional rounds half a second after a job arrives or ends, at least this long after the last round; 0: none", func(c *Config) *time.Duration { return &c.Scheduler.OnEvent }),
	flag("scheduler.free-moves", "moves to other nodes with the same shape are free", func(c *Config) *bool { return &c.Scheduler.FreeMoves }),
	jobRange("window", `measured jobs, by order of submission: "4000-4999"; the run ends with them. Empty: all`),
	list("measure.skip-queues", `queues whose jobs run but are not measured, comma-separated. Jobs of a trace that run already at the start are in queue `+workload.Warm, func(c *Config) *[]string { return &c.Skipped }),
	text("fairness.rho", "reference of rho: isolated (Sia): alone on an equal share of the GPUs, by the average number of jobs in its life; static (public Shockwave code): alone on its requested GPUs, times the trace's jobs per GPU. Empty: static if all jobs have a batch size schedule", func(c *Config) *string { return &c.Fairness.Rho }),
	decimal("fairness.above", "rho above which a job counts as unfairly scheduled; 1.1 in Shockwave's plots", func(c *Config) *float64 { return &c.Fairness.Above }),
	natural("seed", "seed of everything random", func(c *Config) *uint64 { return &c.Sim.Seed }),
	span("horizon", "end of the run; 0: when all jobs have ended", func(c *Config) *time.Duration { return &c.Horizon }),
}

var simKeys = []Key{
	span("sim.report-interval", "time between reports of a job's agent", func(c *Config) *time.Duration { return &c.Sim.ReportInterval }),
	decimal("sim.cross-rack", "factor on gradient exchange between racks; 0 or 1: none", func(c *Config) *float64 { return &c.Sim.CrossRack }),
	span("sim.checkpoint", "time between checkpoints; 0: every epoch", func(c *Config) *time.Duration { return &c.Sim.Checkpoint }),
	flag("sim.round-epochs", "the rest of an epoch takes a whole number of seconds (public rule)", func(c *Config) *bool { return &c.Sim.Public.RoundEpochs }),
	flag("sim.retune-on-epoch", "batch sizes are tuned at the end of every epoch (public rule)", func(c *Config) *bool { return &c.Sim.Public.RetuneOnEpoch }),
	flag("sim.wide-batch-range", "agents use all profiled batch sizes (public rule)", func(c *Config) *bool { return &c.Sim.Public.WideBatchRange }),
	flag("sim.exit-on-round", "progress counts at the end of a round; completed jobs keep their GPUs until then (public rule)", func(c *Config) *bool { return &c.Sim.Public.ExitOnRound }),
	flag("sim.whole-iterations", "an iteration that is incomplete at the end of a round is lost (public rule)", func(c *Config) *bool { return &c.Sim.Public.WholeIterations }),
	flag("sim.whole-rounds", "jobs make whole steps in a round, which ends with the last step; starts take no time (public rule)", func(c *Config) *bool { return &c.Sim.Public.WholeRounds }),
	span("sim.resume-loss", "training time that a job loses in a full round if it did not run in the round before; needs whole rounds (public rule)", func(c *Config) *time.Duration { return &c.Sim.Public.ResumeLoss }),
	flag("sim.late-regimes", "jobs with a schedule change their batch size one round late; needs whole rounds (public rule)", func(c *Config) *bool { return &c.Sim.Public.LateRegimes }),
	decimal("sim.noise", "relative standard deviation of reported times", func(c *Config) *float64 { return &c.Sim.Noise.Report }),
	decimal("sim.bias", "relative standard deviation of an error per job and GPU type: wrong estimates", func(c *Config) *float64 { return &c.Sim.Noise.Bias }),
	decimal("sim.straggler", "probability that a start gets slow GPUs", func(c *Config) *float64 { return &c.Sim.Noise.Straggler }),
	decimal("sim.slow", "factor on step times on slow GPUs", func(c *Config) *float64 { return &c.Sim.Noise.Slow }),
	span("sim.node-mtbf", "mean time between failures of a node; 0: never", func(c *Config) *time.Duration { return &c.Sim.Faults.NodeMTBF }),
	span("sim.repair", "time until a failed node is back", func(c *Config) *time.Duration { return &c.Sim.Faults.Repair }),
	span("sim.gpu-mtbf", "mean time between failures of a GPU; 0: never", func(c *Config) *time.Duration { return &c.Sim.Faults.GPUMTBF }),
	span("sim.start", "time from the order of a rented node until it is ready", func(c *Config) *time.Duration { return &c.Sim.Provider.Start }),
	span("sim.release", "time from the return of a rented node until payment ends", func(c *Config) *time.Duration { return &c.Sim.Provider.Release }),
	decimal("sim.refuse", "probability that the order of a node is refused", func(c *Config) *float64 { return &c.Sim.Provider.Refuse }),
	span("sim.notice", "time from the reclaim notice of a spot node until it is gone", func(c *Config) *time.Duration { return &c.Sim.Provider.Notice }),
	text("lender.load", "file with the load curve of the owner of loaned nodes, with columns t_s and busy_frac; empty: generate one like Lyra's", func(c *Config) *string { return &c.Lender.Load }),
	text("lender.between", `scale the load curve to this trough and peak, as shares of the GPUs: "0.42-0.95"; empty: unchanged`, func(c *Config) *string { return &c.Lender.Between }),
	text("lender.forecast", "load forecast of the owner of loaned nodes: "+wantForecast, func(c *Config) *string { return &c.Lender.Forecast }),
	span("lender.interval", "interval at which the owner of loaned nodes reviews its needs", func(c *Config) *time.Duration { return &c.Sim.Lender.Interval }),
	decimal("lender.headroom", "share of the loanable GPUs that is never lent", func(c *Config) *float64 { return &c.Sim.Lender.Headroom }),
	span("lender.grace", "time from the owner's request for loaned nodes until it takes missing ones by force", func(c *Config) *time.Duration { return &c.Sim.Lender.Grace }),
	windows("sim.maintenance", `maintenance windows, comma-separated: "t4-0+t4-1@2h-3h"`),
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
