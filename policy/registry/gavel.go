package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

// publicGavel solves programs as Gavel's public code does; nil: nobody registered it.
var publicGavel gavel.Solver

// RegisterPublicGavel makes the rules public-code of Gavel's policies available, which
// need the solver of its public code. A program calls it once, before it makes policies.
func RegisterPublicGavel(s gavel.Solver) { publicGavel = s }

// gavelEntries are the policies that share GPUs out in time.
func gavelEntries() []Entry {
	return []Entry{
		gavelEntry("gavel", gavel.MaxMin, "Gavel: time fractions on each GPU type, by default the fairest by throughput (max-min); rounds that follow them."),
		gavelEntry("mst", gavel.Sum, "Maximum sum of throughputs in steps per second; as gavel."),
		gavelEntry("ftf", gavel.FTF, "The worst finish-time fairness as small as can be; as gavel."),
		gavelEntry("ossp", gavel.Makespan, "The last job ends as early as can be; as gavel."),
		gavelEntry("allox", gavel.AlloX, "AlloX: jobs matched to machines and places in line for the least mean completion time; they run until done."),
		gavelEntry("gandivafair", gavel.Stride, "Gandiva-Fair: equal time for every job, whatever its size."),
	}
}

// gavelEntry is one of them, by its objective.
func gavelEntry(name string, objective gavel.Objective, doc string) Entry {
	d := gavel.DefaultOptions()
	settings := []Setting{
		{"perf", strconv.FormatBool(d.Perf), "whether throughput on a GPU type counts; else a job is taken to be as fast on any (true, false)"},
		{"rules", string(d.Rules), "paper, public-code or sia-code"},
		{"turn", d.Turn.String(), "least time between two choices of who runs, of the rules paper; 0s: every round"},
		{"reset", d.Reset.String(), "least time between two solutions, of the rules public-code"},
		{"loss", d.Loss.String(), "time that a job loses in its first round after one without, of the rules public-code"},
	}
	if objective == gavel.MaxMin {
		settings = append(settings, Setting{"objective", string(objective), fmt.Sprintf("one of %v", gavel.Objectives())})
	}
	if objective == gavel.AlloX || objective == gavel.MaxMin {
		settings = append(settings, Setting{"alpha", fmt.Sprint(d.Alpha), "part of the waiting jobs, first come first, that are matched"})
	}
	return Entry{Name: name, Doc: doc, Settings: settings, New: func(given map[string]string) (policy.Policy, error) {
		o := gavel.DefaultOptions()
		o.Objective, o.Public = objective, publicGavel
		r := read(given, settings)
		r.bool("perf", &o.Perf)
		text(r, "rules", &o.Rules)
		r.duration("turn", &o.Turn)
		r.duration("reset", &o.Reset)
		r.duration("loss", &o.Loss)
		text(r, "objective", &o.Objective)
		r.float("alpha", &o.Alpha)
		if err := errors.Join(r.errs...); err != nil {
			return nil, err
		}
		return gavel.New(o)
	}}
}
