package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// orderSteps returns the steps that change nice values so that Slurm's queue has the jobs of line in this order (see
// exchange). Nice values differ by at most maxDifference from the job's own value, which is stored in its Mark. Jobs
// that are no longer in line get their own value back. bounded are the jobs that do not reach their place because of
// this limit.
func orderSteps(o *Observation, line []client.ID, maxDifference int, epoch int64) (steps []step, bounded []client.ID) {
	places, others := placesOf(o, line), make([]int64, len(o.Others))
	for i := range o.Others {
		others[i] = int64(o.Others[i].Priority)
	}
	changes, short := exchange(places, others, maxDifference)
	at, nice := make(map[client.ID]int, len(line)), make(map[client.ID]int, len(changes))
	for i, id := range line {
		at[id] = i + 1
	}
	for _, c := range changes {
		nice[client.ID(c.Job)] = c.Nice
	}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		n, changes := nice[j.ID]
		switch {
		case changes:
			steps = append(steps, renice(j, n, epoch, fmt.Sprintf("it moves to place %d", at[j.ID])))
		case !j.Takes():
			steps = append(steps, undo(j)...)
		case j.Waits() && j.Mark.Ordered && at[j.ID] == 0:
			steps = append(steps, renice(j, j.Mark.Nice, epoch, "it is no longer in the order"))
		}
	}
	for _, id := range short {
		bounded = append(bounded, client.ID(id))
	}
	return steps, bounded
}

func placesOf(o *Observation, line []client.ID) []Place {
	places := make([]Place, 0, len(line))
	for _, id := range line {
		if i, has := slices.BinarySearchFunc(o.Jobs, id, func(j Job, id client.ID) int { return cmp.Compare(j.ID, id) }); has {
			places = append(places, place(&o.Jobs[i]))
		}
	}
	return places
}

func place(j *Job) Place {
	p := Place{Job: uint32(j.ID), Priority: int64(j.Priority), Nice: j.Nice, Own: j.Nice}
	if j.Mark.Ordered {
		p.Own = j.Mark.Nice
	}
	return p
}

func renice(j *Job, nice int, epoch int64, why string) step {
	m := j.Mark
	own := place(j).Own
	m.Ordered, m.Nice, m.Epoch = nice != own, 0, epoch
	if m.Ordered {
		m.Nice = own
	} else if m == (client.Mark{Epoch: epoch}) {
		m = client.Mark{}
	}
	return step{j.ID, update, []client.Field{niceness(nice), adminComment(m)}, why}
}

func adminComment(m client.Mark) client.Field {
	return client.Field{Name: "AdminComment", Value: m.String()}
}

func niceness(n int) client.Field { return client.Field{Name: "Nice", Value: strconv.Itoa(n)} }

// undoSteps returns the steps that restore the nice values of waiting jobs and release jobs that the scheduler holds.
// Steps that lower a priority come first, as in exchange.
func undoSteps(o *Observation) []step {
	var fall, rise []step
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.Mark.Ordered && j.Mark.Nice > j.Nice {
			fall = append(fall, undo(j)...)
		} else {
			rise = append(rise, undo(j)...)
		}
	}
	return append(fall, rise...)
}

// undo clears the mark last: until then its steps are repeated.
func undo(j *Job) []step {
	if j.Mark == (client.Mark{}) {
		return nil
	}
	var steps []step
	if j.IsHeld() && j.Mark.Held {
		steps = append(steps, step{j.ID, Release, nil, "it was held by the scheduler"})
	}
	settings := []client.Field{adminComment(client.Mark{})}
	if j.Mark.Ordered && j.Waits() {
		settings = append([]client.Field{niceness(j.Mark.Nice)}, settings...)
	}
	return append(steps, step{j.ID, update, settings, "the scheduler no longer manages it"})
}
