package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type explainContext struct {
	policy    string // its name; empty: not known
	spec      *job.Spec
	why       policy.Reason
	holds     cluster.Configuration
	view      View
	rivals    []string // waiting jobs with a higher offer for the type of why.Config
	ahead     []string
	holders   *holders // of the type of why.Config; may be nil
	displaced []string
	trains    bool // since it got its present GPUs
	refused   string

	gave   bool               // the last round took GPUs from it, or moved it
	lost   cluster.Allocation // held before that round, if gave
	takers []Taker            // of lost

	gained bool     // the last round gave it GPUs
	donors []string // jobs that lost GPUs on the nodes of these

	freed freed // of the type of why.Config

	preemption Preemption
}

type template struct {
	why     func(*explainContext) string // the fact that decided
	unblock func(*explainContext) string // what would change it; may be nil
	details func(*explainContext) string // the prices and speeds, for --verbose; may be nil
}

func fixedText(text string) func(*explainContext) string {
	return func(*explainContext) string { return text }
}

const ourLimit = ": its limit "

var templates = map[policy.Kind]template{
	policy.Unexplained: {why: fixedText("its policy gives no reason")},
	policy.AsPlanned:   {why: planned, details: plannedDetails},
	policy.Started:     {why: room, details: speed},
	policy.Grown:       {why: grew},
	policy.Shrunk:      {why: shrank, details: shrankDetails},
	policy.Moved:       {why: moved, details: movedDetails},
	policy.KeptNoRestart: {why: func(s *explainContext) string {
		return "it keeps its GPUs, because a move to " + amount(s.why.Config) + " would gain less than its restart costs"
	}, details: restartDetails, unblock: fixedText("the gain that pays for a restart becomes smaller as the job grows older")},
	policy.AboveShare: {why: faster, unblock: fixedText("it loses them when other jobs gain more from them")},
	policy.BelowShare: {why: func(s *explainContext) string {
		if x, _, same := apart(s.why.Value, 1); !same && s.why.Value > 1 {
			return "it needs less than its GPUs' share of CPUs and memory to be " + x + " times as fast"
		}
		return "it is as fast with less than its GPUs' share of CPUs and memory; other jobs use the rest"
	}},
	policy.PinnedRestore: {why: func(s *explainContext) string {
		if s.trains {
			return "it was starting or restoring its checkpoint in the last round, and was not interrupted"
		}
		return "it is starting or restoring its checkpoint, and is not interrupted"
	}, unblock: func(s *explainContext) string {
		if s.trains {
			return "its size may change from the next round on"
		}
		return "its size may change once it trains"
	}},
	policy.PinnedNonPreempt: {why: func(s *explainContext) string {
		switch {
		case s.preemption == NotYet:
			return "it is not preemptible yet: its program has not connected with the client that saves checkpoints"
		case s.preemption == Forbidden:
			return "it was submitted with --no-preempt, and keeps its GPUs until it ends"
		case s.spec.NoCheckpoint:
			return "it is not preemptible and has no checkpoints, so it keeps its GPUs until it ends"
		}
		return "it was submitted as not preemptible, and keeps its GPUs until it ends"
	}},
	policy.Reserved: {why: func(s *explainContext) string {
		return "it holds its reservation of " + amount(reserved(s)) + " until it ends"
	}},
	policy.Promised: {why: func(s *explainContext) string {
		const first = "it comes first, because jobs may end only a little later than under easy" + ourLimit
		if s.why.Value <= 0 {
			return first + "passed " + secs(-s.why.Value) + " ago"
		}
		return first + "is in " + secs(s.why.Value)
	}},
	policy.WaitNoCapacity: {why: short},
	policy.WaitServed: {why: func(s *explainContext) string {
		return short(s) + "; " + s.scheduler() + " ranks the jobs that hold GPUs ahead of it"
	}},
	policy.WaitPriority: {why: func(s *explainContext) string {
		return short(s) + "; jobs of a higher priority come first"
	}},
	policy.WaitShare: {why: func(s *explainContext) string { return short(s) + "; " + tenantsFirst }},
	policy.WaitPrice: {why: outbid, details: outbidDetails},
	policy.WaitHost: {why: func(s *explainContext) string {
		return fmt.Sprintf("no node has %s free together with the %s and %s of memory that it needs",
			amount(s.why.Config), count(int(s.why.Value+0.5), "core"), gibibytes(s.why.Limit))
	}},
	policy.WaitOrder: {why: line},
	policy.WaitBackfill: {why: func(s *explainContext) string {
		free := fmt.Sprintf("the %d GPUs that it needs are free", int(s.why.Limit))
		if s.why.Limit == 1 {
			free = "the GPU that it needs is free"
		}
		return free + ", but its start would delay the first job in the queue, which is expected to start in " + secs(s.why.Value)
	}, unblock: fixedText("it can start after that job, or earlier if more GPUs become free")},
	policy.WaitNodes: {why: func(s *explainContext) string {
		return count(int(s.why.Value), "rented node") + " for the " + amount(s.why.Config) + " planned for it" + s.missing()
	}, unblock: fixedText("the first round after its nodes are up decides how many GPUs it gets")},
	policy.WaitBudget: {why: func(s *explainContext) string {
		return fmt.Sprintf("whole nodes for its %s would raise the total cost to %s per hour, and the budget now allows %s per hour", amount(s.why.Config), fixed(s.why.Value), fixed(s.why.Limit))
	}, unblock: func(s *explainContext) string {
		if s.view.Running == 0 && len(s.view.Types) > 0 {
			return "it can start after a time with less spending, or with a larger budget"
		}
		return "it can start when other jobs end, after a time with less spending, or with a larger budget"
	}},
	policy.Reclaimed: {why: func(s *explainContext) string {
		return "the owner took back its nodes, with " + amount(s.why.Config)
	}, unblock: func(s *explainContext) string {
		text := "it can get other GPUs from the next round on"
		if !s.holds.IsZero() {
			text = "it continues on other nodes"
		}
		if s.spec != nil && s.spec.NoCheckpoint {
			text += "; its work is lost, because it has no checkpoints"
		}
		return text
	}},
	policy.WaitProfile: {
		why:     fixedText("its speed on one GPU of each type is not measured yet"),
		unblock: fixedText("the first round after the measurement decides on it"),
	},
	policy.WaitTurn: {why: func(s *explainContext) string {
		if s.why.Value <= 0 {
			return "jobs take turns, and it has had no turn yet"
		}
		return fmt.Sprintf("jobs take turns, and it had GPUs for %s of the %s since it was submitted", secs(s.why.Value), secs(s.why.Limit))
	}, unblock: func(s *explainContext) string {
		if s.why.Value <= 0 {
			return "its turn comes after the turns of other jobs"
		}
		return "its next turn comes after the turns of other jobs"
	}},
	policy.WaitPlanned: {why: func(s *explainContext) string {
		return fmt.Sprintf("jobs take turns; the turn of this job begins in %s, with %s for %s", secs(s.why.Value), amount(s.why.Config), secs(s.why.Limit))
	}, unblock: fixedText("it starts earlier if other jobs end early; new jobs can delay it")},
	policy.Unpredicted: {why: func(s *explainContext) string {
		return fmt.Sprintf("it keeps %s; the plan assumes that its batch size stays at %.0f, because its schedule does not predict changes", amount(s.why.Config), s.why.Value)
	}},
	policy.Evicted: {why: scattered, unblock: fixedText("the next round tries again")},
	policy.KeptNoPlace: {
		why:     func(s *explainContext) string { return scattered(s) + ", so it keeps what it has" },
		unblock: fixedText("the next round tries again"),
	},
	policy.WaitQuota: {why: func(s *explainContext) string {
		return fmt.Sprintf("its queue has %s of quota left, and it needs %.0f", count(int(s.why.Value), "GPU"), s.why.Limit)
	}, unblock: fixedText("it can start when jobs that use this quota end, or with a larger quota")},
	policy.WaitCap: {why: func(s *explainContext) string {
		name, _ := capOf(s)
		return fmt.Sprintf("%s has used %s of its %s GPU-hours", name, tenths(s.why.Value), tenths(s.why.Limit))
	}, unblock: func(s *explainContext) string {
		_, month := capOf(s)
		if month.IsZero() {
			return "it can start next month, or with a larger cap"
		}
		return "it can start from " + month.AddDate(0, 1, 0).Format("2 January") + " on, or with a larger cap"
	}},
	policy.Impossible: {why: impossible, unblock: func(s *explainContext) string {
		if have(s) >= s.why.Config.GPUs {
			return "it can run only if the cluster changes or it is submitted again with another request"
		}
		return "it can run only if the cluster grows or it is submitted again for fewer GPUs"
	}},
	policy.Refused: {why: func(s *explainContext) string {
		if s.refused == "" {
			return "the policy's plan broke a rule, so every job keeps what it has"
		}
		return "the policy's plan broke a rule (" + s.refused + "), so every job keeps what it has"
	}, unblock: fixedText("the next valid plan decides again")},
}

func speed(s *explainContext) string {
	x, _, same := apart(s.why.Value, 1)
	if s.why.Value == 0 || same {
		return ""
	}
	return "it is " + x + " times as fast as with the fewest GPUs of its slowest type"
}

func room(s *explainContext) string {
	switch n := len(s.donors); {
	case !s.gained:
		return s.scheduler() + " has GPUs for it"
	case n == 0:
		return "enough GPUs were free"
	default:
		return named(s.donors, n) + " gave up GPUs on its nodes"
	}
}

func (s *explainContext) scheduler() string { return cmp.Or(s.policy, "its policy") }

func secs(x float64) string { return span(time.Duration(x * float64(time.Second))) }

func capOf(s *explainContext) (name string, month time.Time) {
	text := string(s.why.Config.GPUType)
	at := strings.LastIndex(text, " in ")
	if at < 0 {
		return text, time.Time{}
	}
	if month, err := time.Parse("2006-01", text[at+len(" in "):]); err == nil {
		return text[:at] + " in " + month.Format("January 2006"), month
	}
	return text, time.Time{}
}

func reserved(s *explainContext) cluster.Configuration {
	if s.spec != nil && !s.spec.Reservation.IsZero() {
		return s.spec.Reservation
	}
	return s.holds
}

var keeps = []policy.Kind{policy.AsPlanned, policy.KeptNoRestart, policy.PinnedRestore, policy.PinnedNonPreempt, policy.KeptNoPlace}

// template does not explain a move by the placer of a job that the policy leaves alone.
func (s *explainContext) template() template {
	if s.gave && slices.Contains(keeps, s.why.Kind) {
		return template{why: fixedText("its move made room for other jobs")}
	}
	return templates[s.why.Kind]
}

func (s *explainContext) missing() string {
	t, one := s.typeOf(s.why.Config.GPUType), s.why.Value == 1
	switch {
	case t != nil && t.Starting == 0 && t.Free >= s.why.Config.GPUs:
		return map[bool]string{true: " was", false: " were"}[one] + " not up in the last round"
	case one:
		return " has not arrived yet"
	}
	return " have not arrived yet"
}

func gibibytes(bytes float64) string { return fmt.Sprintf("%.4g GiB", bytes/(1<<30)) }

func (s *explainContext) because() string {
	text := s.reason()
	if t := s.template(); t.unblock != nil {
		text += "; " + t.unblock(s)
	}
	return text
}

func (s *explainContext) reason() string {
	switch {
	case !s.gave:
		return s.template().why(s)
	case s.holds.IsZero():
		return s.preempted()
	}
	return s.template().why(s) + s.lostTo()
}

func (s *explainContext) lostTo() string {
	if !s.gave || s.holds.IsZero() || len(s.takers) == 0 {
		return ""
	}
	return takenBy(s.takers, "its previous GPUs")
}

func (s *explainContext) details() string {
	if t := s.template(); t.details != nil {
		return t.details(s)
	}
	return ""
}
