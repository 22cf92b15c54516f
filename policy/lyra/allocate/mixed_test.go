package allocate_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// mixed is a heterogeneous job of workers of one GPU, which keeps so much of its speed on both
// sides, and has these.
func mixed(id job.ID, least, most int, speed float64, has allocate.Workers) allocate.Job {
	return allocate.Job{ID: id, GPUs: 1, Min: least, Max: most, Work: 8 * hour, Heterogeneous: true, MixedSpeed: speed, Has: has}
}

// Heterogeneous jobs come last, their base demand on training as far as it fits, their extra
// workers on loan whenever possible. Source: Lyra §6, Handle heterogeneous GPU training.
func TestAllocate_heterogeneous(t *testing.T) {
	now := func(own, loaned int) allocate.Workers { return allocate.Workers{own, loaned} }
	play(t, allocate.DefaultOptions(), []scenario{
		{"on training", []allocate.Job{mixed("a", 4, 4, 0.7, now(0, 0))}, loan(4, 12), []allocate.Grant{runs(4, 0)}},
		{"and the rest on loan", []allocate.Job{mixed("a", 4, 4, 0.7, now(0, 0))}, loan(3, 3), []allocate.Grant{runs(3, 1)}},
		{"or all of it", []allocate.Job{mixed("a", 4, 4, 0.7, now(0, 0))}, loan(0, 12), []allocate.Grant{runs(0, 4)}},
		{"if it fits", []allocate.Job{mixed("a", 4, 4, 0.7, now(0, 0))}, loan(3, 2), []allocate.Grant{noRoom}},
		{"after longer jobs", []allocate.Job{mixed("a", 2, 2, 1, now(0, 0)), rigid("b", 2, 99*hour)}, loan(2, 0), []allocate.Grant{noRoom, runs(1, 0)}},
		{"and their extra workers", []allocate.Job{mixed("a", 2, 2, 1, now(0, 0)), elastic("b", 99*hour, 2)}, loan(2, 0), []allocate.Grant{noRoom, runs(4, 0)}},
		{"extra workers of its own make room", []allocate.Job{mixed("a", 2, 4, 1, now(2, 2)), fungible(rigid("b", 2, hour))}, loan(0, 0), []allocate.Grant{runs(2, 0), runs(0, 1)}},
		{"it grows on loan", []allocate.Job{mixed("a", 2, 4, 1, now(2, 0))}, loan(9, 6), []allocate.Grant{runs(2, 2)}},
		{"and then on training", []allocate.Job{mixed("a", 2, 4, 1, now(2, 0))}, loan(9, 5), []allocate.Grant{runs(3, 1)}},
		{"unless that makes it slower", []allocate.Job{mixed("a", 4, 5, 0.7, now(4, 0))}, loan(0, 9), []allocate.Grant{runs(4, 0)}},
		{"which training does not", []allocate.Job{mixed("a", 4, 5, 0.7, now(4, 0))}, loan(1, 9), []allocate.Grant{runs(5, 0)}},
		{"it keeps its base demand, on training first", []allocate.Job{mixed("a", 3, 5, 0.7, now(2, 3)), fungible(rigid("b", 2, hour))}, loan(0, 0), []allocate.Grant{runs(2, 1), runs(0, 1)}},
	})
}

// Who grows by one worker at a time does not get one that makes it slower.
func TestAllocate_heterogeneous_one_by_one(t *testing.T) {
	two := []allocate.Job{mixed("a", 2, 4, 1, allocate.Workers{2}), mixed("b", 2, 4, 1, allocate.Workers{2})}
	play(t, allocate.Options{Growth: allocate.AFS}, []scenario{{"when the loan is gone", two, loan(9, 3), []allocate.Grant{runs(3, 1), runs(4, 0)}}})
	for _, growth := range []allocate.Growth{allocate.Gandiva, allocate.AFS} {
		play(t, allocate.Options{Growth: growth}, []scenario{
			{string(growth) + " on loan", []allocate.Job{mixed("a", 2, 4, 1, allocate.Workers{2})}, loan(9, 3), []allocate.Grant{runs(3, 1)}},
			{string(growth) + " on training", []allocate.Job{mixed("a", 4, 6, 0.7, allocate.Workers{4})}, loan(1, 9), []allocate.Grant{runs(5, 0)}},
		})
	}
}

// fungible lets j run on loan.
func fungible(j allocate.Job) allocate.Job {
	j.Fungible = true
	return j
}

// Heterogeneous jobs come after all others: these get what they would get if the first had
// never been, but for the base demands of those that run. Source: Lyra §6, "with the lowest
// priority on the remaining servers after all other jobs are scheduled".
func TestAllocate_property_heterogeneous_jobs_come_last(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, c := crowd(t)
		o := rules(t)
		if o.Growth == allocate.Gandiva {
			o.Growth = allocate.AFS // of Gandiva any job that waits stops growth
		}
		plan, err := allocate.Allocate(context.Background(), jobs, c, o)
		if err != nil {
			t.Fatal(err)
		}
		var others []allocate.Job
		var got []allocate.Grant
		for i, j := range jobs {
			if !j.Heterogeneous {
				others, got = append(others, j), append(got, plan.Grants[i])
				continue
			}
			c[0].Free += max(0, j.Has[0]-j.Min) * j.GPUs
			c[1].Free += (j.Has[1] - max(0, min(j.Min, j.Has.Total())-j.Has[0])) * j.GPUs * 3
		}
		c[0].Total, c[1].Total = 999, 999
		alone, err := allocate.Allocate(context.Background(), others, c, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(alone.Grants, append([]allocate.Grant{}, got...)); d != "" {
			t.Fatalf("-alone +with heterogeneous jobs\n%s", d)
		}
	})
}
