package explain

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// An explainContext is what a sentence may use.
type explainContext struct {
	spec  *job.Spec
	why   policy.Reason
	holds cluster.Configuration
	view  View
	// rivals are waiting jobs that offer more for the GPU type of why.Config, by name.
	rivals []string
	// ahead are jobs ahead in the queue, the first one first, by name.
	ahead []string
	// displaced are jobs that were granted GPUs for which there was no place, by name.
	displaced []string
	trains    bool   // the job has trained since it got its present GPUs
	moved     bool   // the last round put the job on other nodes
	refused   string // why the plan was refused; empty: it was not
}

// A template explains one kind of reason.
type template struct {
	why     func(*explainContext) string // a clause that follows a colon
	unblock func(*explainContext) string // a clause that says what would change it; nil: there is nothing to change
}

// templates holds one template for every kind.
var templates = map[policy.Kind]template{
	policy.Unexplained: {why: func(*explainContext) string {
		return "its policy gives no reason"
	}},
	policy.AsPlanned: {why: planned},
	policy.Started: {why: func(s *explainContext) string {
		return "there is room for it" + speed(s)
	}},
	policy.Grown:  {why: grew},
	policy.Shrunk: {why: shrank},
	policy.Moved:  {why: moved},
	policy.KeptNoRestart: {why: kept, unblock: func(*explainContext) string {
		return "the older the job, the less a restart weighs"
	}},
	policy.AboveShare: {why: faster, unblock: func(*explainContext) string {
		return "it has less again when others gain more by them"
	}},
	policy.BelowShare: {why: func(s *explainContext) string {
		if x, _, same := apart(s.why.Value, 1); !same && s.why.Value > 1 {
			return "it needs less than its GPUs' share of CPUs and memory to be " + x + " times as fast"
		}
		return "it is as fast with less than its GPUs' share of CPUs and memory, and others use the rest"
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
		if s.spec.NoCheckpoint {
			return "nothing says yet that it saves checkpoints, and it keeps its GPUs until its program does or ends"
		}
		return "it was submitted as not preemptible, and keeps its GPUs until it ends"
	}},
	policy.Reserved: {why: func(s *explainContext) string {
		return "it holds its reservation of " + amount(reserved(s)) + " until it ends"
	}},
	policy.WaitNoCapacity: {why: short},
	policy.WaitServed: {why: func(s *explainContext) string {
		return short(s) + "; jobs that have GPUs are before it in its policy's order"
	}},
	policy.WaitPriority: {why: func(s *explainContext) string {
		return short(s) + "; jobs of a higher priority go before it"
	}},
	policy.WaitPrice: {why: dear},
	policy.WaitHost: {why: func(s *explainContext) string {
		return fmt.Sprintf("no node has %s free with the %s and %s of memory that it wants",
			amount(s.why.Config), count(int(s.why.Value+0.5), "core"), gibibytes(s.why.Limit))
	}},
	policy.WaitOrder: {why: line},
	policy.WaitBackfill: {why: func(s *explainContext) string {
		needs, them := fmt.Sprintf("the %d GPUs that it needs are free", int(s.why.Limit)), "them"
		if s.why.Limit == 1 {
			needs, them = "the GPU that it needs is free", "it"
		}
		return fmt.Sprintf("%s, but the first in the queue, which is believed to start in %s, would start later if it took %s", needs, secs(s.why.Value), them)
	}, unblock: func(*explainContext) string {
		return "it may start once that one has, or sooner if more GPUs come free"
	}},
	policy.WaitNodes: {why: func(s *explainContext) string {
		return fmt.Sprintf("it is to have %s, of which %s not there yet", amount(s.why.Config), are(int(s.why.Value), "node"))
	}, unblock: func(*explainContext) string {
		return "the first round after its nodes are up decides anew"
	}},
	policy.WaitBudget: {why: func(s *explainContext) string {
		return fmt.Sprintf("it is to have %s, but with that %s would be paid per hour, and no more than %s may be now", amount(s.why.Config), fixed(s.why.Value), fixed(s.why.Limit))
	}, unblock: func(*explainContext) string {
		return "ends of others, a larger budget, and time, as what was spent leaves the window of the budget, make room"
	}},
	policy.Reclaimed: {why: func(s *explainContext) string {
		return "the nodes that it was on, with " + amount(s.why.Config) + ", went back to their owner"
	}, unblock: func(s *explainContext) string {
		text := "it waits like the others from the next round on"
		if !s.holds.IsZero() {
			text = "it goes on elsewhere"
		}
		if s.spec != nil && s.spec.NoCheckpoint {
			text += "; with checkpoints it would lose nothing that it has done"
		}
		return text
	}},
	policy.WaitProfile: {why: func(*explainContext) string {
		return "its one-GPU profiles are not complete, so nobody knows yet how fast it trains"
	}, unblock: func(*explainContext) string {
		return "it is planned for in the first round after its last profile"
	}},
	policy.WaitTurn: {why: func(s *explainContext) string {
		if s.why.Value <= 0 {
			return "jobs take turns, and it has had none yet"
		}
		return fmt.Sprintf("jobs take turns, and it had %s of service in the %s since it was submitted", secs(s.why.Value), secs(s.why.Limit))
	}, unblock: func(s *explainContext) string {
		if s.why.Value <= 0 {
			return "its turn comes when others have had theirs"
		}
		return "its turn comes again when others have had theirs"
	}},
	policy.WaitPlanned: {why: func(s *explainContext) string {
		return fmt.Sprintf("jobs take turns, and its turn is planned: %s in %s, for %s of the rounds ahead", amount(s.why.Config), secs(s.why.Value), secs(s.why.Limit))
	}, unblock: func(*explainContext) string {
		return "it starts then, or sooner if others end sooner than planned; jobs that come may put it off"
	}},
	policy.Unpredicted: {why: func(s *explainContext) string {
		return fmt.Sprintf("it keeps %s; its batch size is planned to stay at %.0f, because its schedule does not say how it changes", amount(s.why.Config), s.why.Value)
	}},
	policy.Evicted: {why: scattered, unblock: func(*explainContext) string {
		return "the next round tries again"
	}},
	policy.KeptNoPlace: {why: func(s *explainContext) string { return scattered(s) + ", so it keeps what it has" }, unblock: func(*explainContext) string {
		return "the next round tries again"
	}},
	policy.WaitQuota: {why: func(s *explainContext) string {
		return fmt.Sprintf("its queue's quota leaves %s, and it needs %s", count(int(s.why.Value), "GPU"), strconv.FormatFloat(s.why.Limit, 'f', -1, 64))
	}, unblock: func(*explainContext) string {
		return "ends of jobs that use this quota, or a larger one, make room"
	}},
	policy.Impossible: {why: impossible, unblock: func(s *explainContext) string {
		if have(s) >= s.why.Config.GPUs {
			return "it runs if the cluster changes, or if it is submitted anew otherwise"
		}
		return "it never runs unless the cluster grows or it is submitted anew for less"
	}},
	policy.Refused: {why: func(s *explainContext) string {
		if s.refused == "" {
			return "the policy's plan broke a rule and was refused, so every job stays as it was"
		}
		return "the policy's plan was refused (" + s.refused + "), so every job stays as it was"
	}, unblock: func(*explainContext) string {
		return "the next plan that keeps the rules decides anew"
	}},
}

// speed says in parentheses how fast a job is; nothing if that is not known.
func speed(s *explainContext) string {
	x, _, same := apart(s.why.Value, 1)
	switch {
	case s.why.Value == 0:
		return ""
	case !same:
		return times(x)
	case s.spec != nil && !s.spec.Adaptivity.Has(job.GPUCount):
		return "" // it runs on as many GPUs or not at all
	}
	return times("1")
}

// times says in parentheses how many times as fast a job is as on the least that it runs on.
func times(x string) string {
	if x == "1" {
		return " (as fast as on the least it runs on)"
	}
	return " (" + x + " times as fast as on the least it runs on)"
}

// verb returns "none is", "1 is" or "3 are", for things that were just named.
func verb(n int) string {
	switch n {
	case 0:
		return "none is"
	case 1:
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func secs(x float64) string { return span(time.Duration(x * float64(time.Second))) }

func reserved(s *explainContext) cluster.Configuration {
	if s.spec != nil && !s.spec.Reservation.IsZero() {
		return s.spec.Reservation
	}
	return s.holds
}

// included says what the price of a reason includes beside GPUs.
func included(s *explainContext) string {
	for _, t := range s.view.Types {
		if t.Type == s.why.Config.GPUType && (t.CPU > 0 || t.Memory > 0) {
			return ", with its CPUs and memory,"
		}
	}
	return ""
}

// most returns the number that have returns, in words.
func most(s *explainContext) string {
	if n := have(s); n > 0 {
		return strconv.Itoa(n)
	}
	return "none"
}

// keeps are the reasons of policies that change nothing.
var keeps = []policy.Kind{policy.AsPlanned, policy.KeptNoRestart, policy.PinnedRestore, policy.PinnedNonPreempt, policy.KeptNoPlace}

// template returns that of the reason. A placer may move a job although the policy changes nothing: then
// what the policy says is not why it moves.
func (s *explainContext) template() template {
	if s.moved && slices.Contains(keeps, s.why.Kind) {
		return template{why: func(*explainContext) string {
			return "its policy plans the same for it, and the placer put it on other nodes to make room for others"
		}}
	}
	return templates[s.why.Kind]
}

// gibibytes returns a number of bytes as "6.319 GiB", which is what containers and free(1) count in.
func gibibytes(bytes float64) string { return fmt.Sprintf("%.4g GiB", bytes/(1<<30)) }

// because returns the clause that says why and, if anything would change it, the one that says
// what.
func (s *explainContext) because() string {
	t := s.template()
	if t.unblock == nil {
		return t.why(s)
	}
	return t.why(s) + "; " + t.unblock(s)
}

// reason returns only the clause that says why.
func (s *explainContext) reason() string { return s.template().why(s) }
