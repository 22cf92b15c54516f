package serve

import (
	"strings"
	"testing"
	"time"
)

// Who waits hears why, what would help, and what of the future is known.
func TestExplain(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	for range s.o.Slots {
		s.submit("busy", "sleep", "60")
	}
	id := s.submit("late", "true")
	await(t, "a plan without it", func() bool { return strings.HasPrefix(s.view(id).Reason, "waiting") })
	e, err := s.Explain(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"late has been waiting", "0 of 4 CPU slots free; 4 jobs run, 1 waits",
		"unblock    it would get 1 CPU slot if job busy",
		"unknown: ",
	} {
		if !strings.Contains(e.Text, want) {
			t.Errorf("want %q in\n%s", want, e.Text)
		}
	}
	if strings.Contains(e.Text, "has no end") {
		t.Errorf("the journal is said to be cut off while the run goes on:\n%s", e.Text)
	}
	if now, err := s.Status(t.Context(), false); err != nil || now.Queues[0].Running != 4 || now.Queues[0].Waiting != 1 || now.Slots()[0].Job == "" {
		t.Errorf("got %+v, want four jobs on four slots and one that waits", now)
	}
}

// Of a job that has ended nothing is to come: it hears how it ended, with the last lines of its output.
func TestExplain_ended(t *testing.T) {
	t.Parallel()
	s := start(t, options(t))
	id := s.submit("train", "sh", "-c", "echo no such folder: /data; exit 3")
	s.ended(id)
	var text, story string
	await(t, "its end in the journal", func() bool {
		e, err := s.Explain(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		text, story = e.Text, string(e.Story)
		return strings.Contains(text, "train failed ")
	})
	if want := " ago: worker 0: exit code 3; its last lines:\n  no such folder: /data\n"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
	for _, field := range []string{`"unblock"`, `"weight"`, `"start"`, `"end"`} {
		if strings.Contains(story, field) {
			t.Errorf("field %s of a job that has ended:\n%s", field, story)
		}
	}
	for _, row := range []string{"weight", "unblock", "start ", "end ", "cluster", "holds", "Note"} {
		if strings.Contains(text, "\n  "+row) || strings.Contains(text, row+":") {
			t.Errorf("row %q of a job that has ended:\n%s", row, text)
		}
	}
}

// A job that comes to an idle machine is started at once, however long it is until the next regular
// round. It is running as soon as its processes run, although its program never says so, and nothing
// has to change for it.
func TestExplain_running(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Round, o.Quiet = time.Hour, time.Hour
	s := start(t, o)
	id := s.submit("train", "sleep", "60")
	await(t, "its start", func() bool { return s.view(id).Phase == "running" })
	e, err := s.Explain(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"train has been running on 1 CPU slot for ", "cluster "} {
		if !strings.Contains(e.Text, want) {
			t.Errorf("want %q in\n%s", want, e.Text)
		}
	}
	if strings.Contains(e.Text, "unblock") {
		t.Errorf("says what would unblock a job that runs:\n%s", e.Text)
	}
}
