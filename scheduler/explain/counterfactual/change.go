package counterfactual

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Change is a change of the cluster or of jobs after which a waiting job would get GPUs, and the GPUs that it would
// get. Kind states which fields are set.
type Change struct {
	Kind     Kind               `json:"kind"`
	GPUs     int                `json:"gpus,omitzero"`   // FewerGPUs: GPUs to request; MoreGPUs and NodesCome: GPUs added
	Type     cluster.GPUType    `json:"type,omitzero"`   // AnotherType, MoreGPUs and NodesCome: GPU type
	Group    cluster.Group      `json:"group,omitzero"`  // NodesCome: group of the nodes
	Jobs     []job.ID           `json:"jobs,omitempty"`  // JobsEnd: jobs that end, the soonest first
	Rough    bool               `json:"rough,omitzero"`  // perhaps not all of Jobs have to end
	Rounds   int                `json:"rounds,omitzero"` // RoundsPass: number of rounds
	In       time.Duration      `json:"-"`               // time until the last of Jobs ends (negative: unknown), or of the rounds that pass
	Gets     cluster.Allocation `json:"-"`
	Each     int                `json:"-"`                 // GPUs of the type in Gets that replace one requested GPU; 0: one
	Priority float64            `json:"priority,omitzero"` // MorePriority: needed priority
	Others   int                `json:"others,omitzero"`   // MoreGPUs: GPUs that other jobs gain; negative if they lose
	Plans    int                `json:"-"`                 // number of plans that Find made
	Tried    []Kind             `json:"tried,omitempty"`   // NothingHelps: kinds tried without success
	Holding  []job.ID           `json:"-"`                 // JobsEnd: the jobs of Jobs that hold GPUs; the others wait
	Budget   bool               `json:"-"`                 // NothingHelps: the job waits for the budget, which Find does not vary
	Earlier  bool               `json:"-"`                 // JobsEnd: the job will probably start before that
	Ahead    bool               `json:"-"`                 // JobsEnd: all waiting jobs of Jobs are ahead of the job in the queue
	Of       Totals             `json:"-"`                 // JobsEnd and FewerGPUs: all jobs of the round; zero if not known
}

// Totals count the other jobs of a round: Running, Waiting and, of these, Ahead in the queue. Free counts the free GPUs
// of the type that the job would get.
type Totals struct{ Running, Waiting, Ahead, Free int }

// A Kind is a kind of change that may help a waiting job.
type Kind uint8

// The kinds of change, in the order of trying.
const (
	NoChange  Kind = iota // a later round gives it GPUs without a change
	NodesCome             // rented nodes that are ordered are up
	JobsEnd               // all of a set of jobs end
	MorePriority
	FewerGPUs // the job requests fewer GPUs, the largest number that helps
	AnotherType
	Checkpoints
	Preemptible
	MoreGPUs // the cluster has more GPUs of a type, the smallest number that helps
	RoundsPass
	NothingHelps
	kinds
)

var kindNames = [kinds]string{
	"no change", "rented nodes come", "jobs end", "a higher priority", "fewer GPUs", "another GPU type",
	"checkpoints", "preemptible", "more GPUs", "rounds pass", "nothing helps",
}

func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return kindNames[k]
}

// MarshalText returns the same as String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("kind of change %q, want one of %q", text, kindNames)
	}
	*k = Kind(i)
	return nil
}

const mostNamed = 3

// String returns the change as part of a sentence: "it would get 4 a100 GPUs if it asked for 4 GPUs".
func (c *Change) String() string { return c.Text(func(id job.ID) string { return string(id) }) }

// Text is like String, but prints name(id) in place of a job's ID.
func (c *Change) Text(name func(job.ID) string) string {
	switch c.Kind {
	case NothingHelps:
		return "no single change helps" + c.tried()
	case NoChange:
		return "nothing needs to change: one of the next rounds should give it " + amount(c.Gets)
	case NodesCome:
		verb := "are"
		if c.GPUs == 1 {
			verb = "is"
		}
		return fmt.Sprintf("it would get %s if the %s that %s ordered were up", amount(c.Gets), gpus(c.GPUs, "rented", c.Type), verb)
	case JobsEnd:
		return c.jobsEnd(name)
	case MorePriority:
		return fmt.Sprintf("it would get %s if its priority were %s", amount(c.Gets), strconv.FormatFloat(c.Priority, 'f', -1, 64))
	case FewerGPUs:
		text := fmt.Sprintf("it would get %s if it asked for %s%s", amount(c.Gets), printable.GPUs(c.GPUs, ""), c.each())
		if c.Of.Ahead > 0 {
			text += ": so small a job may pass the jobs ahead of it"
		}
		return text
	case AnotherType:
		return fmt.Sprintf("it would get %s if it allowed GPUs of type %s", amount(c.Gets), c.Type)
	case Checkpoints:
		return "it would get " + amount(c.Gets) + " if it had checkpoints"
	case Preemptible:
		return "it would get " + amount(c.Gets) + " if it could be preempted"
	case MoreGPUs:
		return fmt.Sprintf("it would get %s if the cluster had %s", amount(c.Gets), gpus(c.GPUs, "more", c.Type)) + c.others()
	case RoundsPass:
		rounds := strconv.Itoa(c.Rounds) + " rounds"
		if c.Rounds == 1 {
			rounds = "1 round"
		}
		return fmt.Sprintf("it would get %s if %s passed and nothing else changed", amount(c.Gets), rounds)
	case kinds:
	}
	return "unknown"
}

func (c *Change) each() string {
	if c.Each <= 1 {
		return ""
	}
	return fmt.Sprintf(", %d of type %s for each", c.Each, c.Gets.GPUType)
}

func (c *Change) others() string {
	rest := c.GPUs - c.Gets.AllGPUs()
	switch {
	case rest <= 0:
		return ""
	case c.Others < 0:
		return fmt.Sprintf(" (other jobs would get %d fewer, and %d more would be free)", -c.Others, rest-c.Others)
	case c.Others == 0:
		return fmt.Sprintf(" (%d more would be free)", rest)
	case c.Others < rest:
		return fmt.Sprintf(" (other jobs would get %d more, and %d more would be free)", c.Others, rest-c.Others)
	}
	return fmt.Sprintf(" (other jobs would get %d more)", c.Others)
}

// named returns "job bert" and "jobs bert and vit", without the noun if a name begins with it.
func named(noun string, jobs []job.ID, name func(job.ID) string) string {
	if slices.ContainsFunc(jobs, func(id job.ID) bool { return printable.NamesKind(noun, name(id)) }) {
		return list(jobs, name)
	}
	if len(jobs) > 1 {
		noun += "s"
	}
	return noun + " " + list(jobs, name)
}

func list(jobs []job.ID, name func(job.ID) string) string {
	var names []string
	for _, id := range jobs[:min(mostNamed, len(jobs))] {
		names = append(names, name(id))
	}
	if more := len(jobs) - mostNamed; more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

var trials = [kinds]string{
	NodesCome: "ordered nodes arriving", JobsEnd: "other jobs ending", MorePriority: "a higher priority", FewerGPUs: "fewer GPUs",
	AnotherType: "another GPU type", Checkpoints: "saving checkpoints", Preemptible: "being preemptible", MoreGPUs: "more GPUs",
}

func (c *Change) tried() string {
	trials := trials
	trials[RoundsPass] = "waiting " + printable.Rough(c.In) + " longer"
	var all []string
	for i, k := range c.Tried {
		if slices.Contains(c.Tried[:i], k) || trials[k] == "" { // ends are tried twice: of jobs that hold GPUs, and of all
			continue
		}
		all = append(all, trials[k])
	}
	text := ""
	if len(all) > 0 {
		text = " (tried: " + strings.Join(all, ", ") + ")"
	}
	if c.Budget {
		text += "; larger budgets are not tested"
	}
	return text
}

func (c *Change) jobsEnd(name func(job.ID) string) string {
	text := "it would get " + amount(c.Gets) + c.free() + " if "
	n, ended := c.waiting(), " ended"
	if n > 0 {
		ended = " were gone"
	}
	if n == 0 && len(c.Jobs) <= mostNamed {
		text += named("job", c.Jobs, name)
	} else {
		text += c.sets(n, name)
	}
	text += ended + c.expected()
	if c.Rough {
		text += "; perhaps fewer are enough"
	}
	if c.Earlier {
		text += "; it will probably start before that"
	}
	if len(c.Jobs) > mostNamed {
		return "only a large change helps: " + text
	}
	return text
}

// sets counts the jobs with GPUs and the n that wait: "2 of the 3 running jobs (a and b) and the job ahead of it (c)".
func (c *Change) sets(n int, name func(job.ID) string) string {
	var all []string
	if len(c.Holding) > 0 {
		all = append(all, part(len(c.Holding), c.Of.Running, "running job")+few(c.Holding, name))
	}
	switch {
	case n > 0 && c.Ahead:
		all = append(all, part(n, c.Of.Ahead, "job")+" ahead of it"+c.queued(name))
	case n > 0:
		all = append(all, part(n, c.Of.Waiting, "other waiting job")+c.queued(name))
	}
	return strings.Join(all, " and ")
}

// part returns "2 of the 3 running jobs", "all 3 running jobs", "the only running job", or "2 running jobs" if the
// total is not known.
func part(n, of int, noun string) string {
	switch {
	case of < n:
		return printable.Count(n, noun)
	case of == 1:
		return "the only " + noun
	case of == n && n == 2:
		return "both " + printable.Count(n, noun)[2:]
	case of == n:
		return "all " + printable.Count(n, noun)
	}
	return fmt.Sprintf("%d of the %s", n, printable.Count(of, noun))
}

func (c *Change) queued(name func(job.ID) string) string {
	return few(slices.DeleteFunc(slices.Clone(c.Jobs), func(id job.ID) bool { return slices.Contains(c.Holding, id) }), name)
}

func few(jobs []job.ID, name func(job.ID) string) string {
	if len(jobs) > mostNamed {
		return ""
	}
	return " (" + list(jobs, name) + ")"
}

func (c *Change) waiting() int { return len(c.Jobs) - len(c.Holding) }

func (c *Change) free() string {
	n := c.Of.Free
	if n <= 0 || n >= c.Gets.GPUs || c.Gets.Mixed() {
		return ""
	}
	return fmt.Sprintf(" (%d %s free now)", n, map[bool]string{true: "is", false: "are"}[n == 1])
}

func (c *Change) expected() string {
	if c.In < 0 {
		return ""
	}
	return " (expected in " + printable.Rough(c.In) + ")"
}

func gpus(n int, which string, t cluster.GPUType) string {
	return strings.Replace(printable.GPUs(n, string(t)), " ", " "+which+" ", 1)
}

func amount(a cluster.Allocation) string {
	text := printable.GPUs(a.GPUs, string(a.GPUType))
	if a.Nodes > 1 {
		text += fmt.Sprintf(" on %d nodes", a.Nodes)
	}
	if a.Mixed() {
		text += " and " + printable.GPUs(a.Also.GPUs, string(a.Also.GPUType))
	}
	return text
}
