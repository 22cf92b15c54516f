package execute

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/comment"
	"github.com/oxgang/oxgang/live/slurm/observe"
	"github.com/oxgang/oxgang/live/slurm/order"
)

// OrderSteps returns the updates of nice values after which the jobs of a line wait in Slurm in the
// order of the line, the first first (order.Exchange). No nice value is further than most from what the
// job had. The mark of a changed job says which that was. Jobs that left the line get it back.
// bounded are the jobs that most keeps from their place.
func OrderSteps(o *observe.Observation, line []client.ID, most int, epoch int64) (steps []Step, bounded []client.ID) {
	places, others := make([]order.Place, 0, len(line)), []int64(nil)
	for _, id := range line {
		if i := slices.IndexFunc(o.Jobs, func(j observe.Job) bool { return j.ID == id }); i >= 0 {
			places = append(places, place(&o.Jobs[i]))
		}
	}
	for i := range o.Others {
		others = append(others, int64(o.Others[i].Priority))
	}
	changes, short := order.Exchange(places, others, most)
	for i := range o.Jobs {
		j := &o.Jobs[i]
		at := slices.IndexFunc(changes, func(c order.Change) bool { return c.Job == uint32(j.ID) })
		switch {
		case at >= 0:
			why := fmt.Sprintf("it is to be at place %d", 1+slices.Index(line, j.ID))
			steps = append(steps, renice(j, changes[at].Nice, epoch, why))
		case !j.Takes():
			steps = append(steps, undo(j)...)
		case j.Waits() && j.Mark.Ordered && !slices.Contains(line, j.ID):
			steps = append(steps, renice(j, j.Mark.Nice, epoch, "it has no place now"))
		}
	}
	for _, id := range short {
		bounded = append(bounded, client.ID(id))
	}
	return steps, bounded
}

// place returns where Slurm has a job.
func place(j *observe.Job) order.Place {
	p := order.Place{Job: uint32(j.ID), Priority: int64(j.Priority), Nice: j.Nice, Own: j.Nice}
	if j.Mark.Ordered {
		p.Own = j.Mark.Nice
	}
	return p
}

// renice returns the update that gives a job a nice value. Where that is the job's own, nothing of the
// scheduler is left.
func renice(j *observe.Job, nice int, epoch int64, why string) Step {
	m := j.Mark
	own := place(j).Own
	m.Ordered, m.Nice, m.Epoch = nice != own, 0, epoch
	if m.Ordered {
		m.Nice = own
	} else if m == (comment.Mark{Epoch: epoch}) {
		m = comment.Mark{}
	}
	return Step{j.ID, Update, []client.Field{niceness(nice), adminComment(m)}, why}
}

func adminComment(m comment.Mark) client.Field {
	return client.Field{Name: "AdminComment", Value: m.String()}
}

func niceness(n int) client.Field { return client.Field{Name: "Nice", Value: strconv.Itoa(n)} }

// Undo returns the steps after which nothing of the scheduler is left on the jobs of an observation:
// nice values are what they were, and what it holds is released. Jobs that run go on. Jobs that fall by
// it are the first, as in order.Exchange.
func Undo(o *observe.Observation) []Step {
	var fall, rise []Step
	for i := range o.Jobs {
		if j := &o.Jobs[i]; j.Mark.Ordered && j.Mark.Nice > j.Nice {
			fall = append(fall, undo(j)...)
		} else {
			rise = append(rise, undo(j)...)
		}
	}
	return append(fall, rise...)
}

// undo returns the steps of Undo about one job. The mark goes last: until then the steps are repeated.
func undo(j *observe.Job) []Step {
	if j.Mark == (comment.Mark{}) {
		return nil
	}
	var steps []Step
	if j.Kept() && j.Mark.Held {
		steps = append(steps, Step{j.ID, Release, nil, "the scheduler held it"})
	}
	settings := []client.Field{adminComment(comment.Mark{})}
	if j.Mark.Ordered && j.Waits() {
		settings = append([]client.Field{niceness(j.Mark.Nice)}, settings...)
	}
	return append(steps, Step{j.ID, Update, settings, "the scheduler lets go of it"})
}
