package driver

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A loss that is retracted is not taken; one that is taken frees the job; after its end, and Drain, nothing is left.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		var table *Table[*toyEntry]
		table = NewTable(NewQueue(), func(*toyEntry) { freed++ }, func(e *toyEntry) { table.Remove(e) })
		e := &toyEntry{Entry: Entry{ID: "a"}}
		table.Add(e)
		later := time.Now().Add(time.Minute)
		table.Lose(e, "gone")
		table.RetractLoss(e)
		if ev, _, _ := table.Take(later); ev != nil || e.Lost || freed != 0 {
			t.Errorf("retracted: took %v, lost %v, freed %d times, want nothing", ev, e.Lost, freed)
		}
		table.Lose(e, "gone")
		if ev, _, _ := table.Take(later); ev == nil || e.Lost || freed != 1 {
			t.Errorf("lost: took %v, lost %v, freed %d times, want that it is free", ev, e.Lost, freed)
		}
		table.Conclude(e, scheduler.Done, "")
		table.Drain()
		if _, err := table.Get("a"); err != nil || !table.EndPending("a") || !e.Over {
			t.Errorf("%v; the end is not pending", err)
		}
		if ev, _, _ := table.Take(later); ev == nil || len(table.Order)+len(table.ByID) != 0 || table.EndPending("a") {
			t.Errorf("ended: took %v, %d jobs, want none", ev, len(table.Order))
		}
		if _, err := table.Next(t.Context(), later); !errors.Is(err, io.EOF) {
			t.Errorf("drained: %v, want the end", err)
		}
	})
}

// heard is a program that counts its messages.
type heard struct{ hellos, reports, checkpoints int }

func (h *heard) Hello(*agentapi.Hello) (*job.Spec, error) { h.hellos++; return toyJob("a"), nil }
func (h *heard) Report(*agentapi.Report) error            { h.reports++; return nil }
func (h *heard) Checkpoint(*agentapi.Checkpoint) error    { h.checkpoints++; return nil }

// A Hello of another number of workers changes nothing. Others are measured, and stored, as are checkpoints.
func TestAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took agentapi.Mean
		p, saved := &heard{}, 0
		s := &Start{Least: 2, Most: 4, Planned: time.Now(), Took: &took, GPUs: 4, Allocation: cluster.Allocation{}}
		a := NewAgents(newToy(testCluster(t)).Feed, time.Minute, func(id job.ID, generation int) (Program, *Start, error) {
			if generation != 3 {
				return nil, nil, OtherGeneration(generation, 3)
			}
			return p, s, nil
		}, func(job.ID) { saved++ })
		time.Sleep(time.Second)
		ctx := context.Background()
		for workers, want := range map[int]error{1: agentapi.ErrInvalid, 5: agentapi.ErrInvalid} {
			if _, err := a.Hello(ctx, "a", &agentapi.Hello{Generation: 3, WorldSize: workers}); !errors.Is(err, want) || p.hellos+saved > 0 {
				t.Errorf("%d workers: %v, want %v", workers, err, want)
			}
		}
		if _, err := a.Report(ctx, "a", &agentapi.Report{Generation: 2}); !errors.Is(err, agentapi.ErrGeneration) {
			t.Errorf("an old generation: %v", err)
		}
		w, err := a.Hello(ctx, "a", &agentapi.Hello{Generation: 3, WorldSize: 2})
		if err != nil || w.ReportSeconds != 60 || took.Value() != time.Second || saved != 1 {
			t.Errorf("hello: %+v, %v, took %v, stored %d times", w, err, took.Value(), saved)
		}
		s.Notice = &agentapi.Notice{Reason: "others"}
		if answer, err := a.Report(ctx, "a", &agentapi.Report{Generation: 3}); err != nil || answer.Notice != s.Notice || saved != 1 {
			t.Errorf("report: %+v, %v, want the notice", answer, err)
		}
		if err := a.Checkpoint(ctx, "a", &agentapi.Checkpoint{Generation: 3}); err != nil || p.checkpoints != 1 || saved != 2 {
			t.Errorf("checkpoint: %v, stored %d times", err, saved)
		}
	})
}
