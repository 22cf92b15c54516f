package run

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Who decided in a recorded run decides so again, whatever it was told of its jobs.
func TestAgain_decides_as_recorded(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"sia":    {"policy": "sia", "set": "sia.p=-1", "placer": "pack"},
		"public": {"policy": "sia", "public": "true"},
		"oracle": {"policy": "srtf", "estimate.mode": "oracle"},
		"known":  {"policy": "boa", "estimate.classes": "known", "set": "boa.budget=30"},
		"first":  {"policy": "las", "scheduler.first": "10s", "round": "2m", "estimate.smoothing": "0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			settings["generate.jobs"], settings["cluster"], settings["horizon"] = "12", "t4:4x4,a100:1x16", "4h"
			for key, value := range settings {
				if err := c.Set(key, value, "test"); err != nil {
					t.Fatal(err)
				}
			}
			_, text := record(t, c)
			r := reader(t, text)
			h := r.Header()
			again, err := Again(&h, "", osFiles())
			if err != nil {
				t.Fatal(err)
			}
			got, err := whatif.Replay(t.Context(), r, whatif.Options{Fresh: again.Fresh, Scheduler: again.Scheduler})
			if err != nil {
				t.Fatal(err)
			}
			if got.First != nil || got.Rounds < 10 {
				t.Errorf("%d rounds, first difference %v; want some, and none", got.Rounds, got.First)
			}
		})
	}
}

// A live run's header has settings of its policy by their names; those of another are an error.
func TestAgain_reads_settings(t *testing.T) {
	h := &journal.Header{Policy: "sia", Settings: []journal.Setting{{Name: "p", Value: "-2"}, {Name: "round", Value: "30s"}}}
	again, err := Again(h, "", osFiles())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := again.Fresh(); err != nil {
		t.Error(err)
	}
	h.Settings[0].Name = "backfill"
	if again, err = Again(h, "", osFiles()); err == nil {
		_, _, err = again.Fresh()
	}
	if err == nil || !strings.Contains(err.Error(), "sia") {
		t.Errorf("got %v, want a complaint about a setting that sia does not have", err)
	}
	if _, err := Again(h, "magic", osFiles()); err == nil {
		t.Error("an unknown policy is no error")
	}
}

// A journal of a run in which time sharing was off, as it was by default, is replayed though
// there is no such setting any more; of one in which it was on the error says so.
func TestAgain_without_settings_that_are_gone(t *testing.T) {
	again := func(settings ...journal.Setting) error {
		r, err := Again(&journal.Header{Policy: "sia", Settings: settings}, "", osFiles())
		if err == nil {
			_, _, err = r.Fresh()
		}
		return err
	}
	for _, s := range []journal.Setting{{Name: "set", Value: "timeshare=0s"}, {Name: "set", Value: "p=-1,sia.timeshare=0s"}, {Name: "timeshare", Value: "0s"}} {
		if err := again(s); err != nil {
			t.Errorf("%s %s: %v", s.Name, s.Value, err)
		}
	}
	for _, s := range []journal.Setting{{Name: "set", Value: "timeshare=180s"}, {Name: "timeshare", Value: "3m0s"}} {
		if err := again(s); err == nil || !strings.Contains(err.Error(), "no time sharing any more") {
			t.Errorf("%s %s: got %v, want that there is no time sharing any more", s.Name, s.Value, err)
		}
	}
}
