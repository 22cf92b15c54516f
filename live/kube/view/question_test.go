package view

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// replies sets what the scheduler of a fake says; ASKED stands for the ID of the request.
func (f *fake) replies(data string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, "reply"), []byte(data), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// What would be is asked of the scheduler of the job's queue, by uid, and its answer has the names that the page has; a job that the user
// does not see is not named.
func TestPage_ask(t *testing.T) {
	f := newFake(t)
	c, o := opened(t, &Looker{Kubectl: new(Kubectl)})
	if c.Asks() || o.Asks {
		t.Error("it is asked without having been told to")
	}
	c.AskBy(new(Kubectl), "oxgang-system")
	f.replies(`{"data": {"reply": "{\"id\": \"ASKED\", \"answer\": {\"Sooner\": 2, \"Jobs\": [{\"Job\": \"2\"}, {\"Job\": \"99\"}]}}"}}`)
	for _, q := range []struct {
		question whatif.Question
		want     string
	}{
		{whatif.Question{Cancel: "research/runs"}, `\"Cancel\":\"1\"`},
		{whatif.Question{Resize: "research/later", GPUs: 4}, `\"Resize\":\"2\",\"GPUs\":4`},
		{whatif.Question{Nodes: 1, Type: "h200"}, `\"Nodes\":1,\"Type\":\"h200\"`},
	} {
		a, err := c.Ask(t.Context(), q.question, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.Sooner != 2 || len(a.Jobs) != 1 || a.Jobs[0].Job != "research/later" {
			t.Errorf("%+v: %+v", q.question, a)
		}
		if asked := f.read("asked"); !strings.Contains(asked, q.want) || !strings.Contains(asked, `\"queue\":\"training\"`) || !strings.Contains(asked, "patch configmap oxgang-question -n oxgang-system") {
			t.Errorf("asked %s, want %s of queue training", asked, q.want)
		}
	}
	for _, id := range []job.ID{"research/gone", "secret/nb"} {
		if _, err := c.Ask(t.Context(), whatif.Question{Cancel: id}, 0); !errors.Is(err, page.ErrUnknown) {
			t.Errorf("%s: %v, want that it is not known", id, err)
		}
	}
}

// What the scheduler does not answer, or the API server does not allow, is said.
func TestPage_ask_refused(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	c.AskBy(new(Kubectl), "oxgang-system")
	refused := func(want string) {
		t.Helper()
		var r *page.RefusedError
		if _, err := c.Ask(t.Context(), whatif.Question{Cancel: "research/runs"}, 0); !errors.As(err, &r) || !strings.Contains(r.Text, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f.replies(`{"data": {"reply": "{\"id\": \"ASKED\", \"refused\": \"no round yet\"}"}}`)
	refused("no round yet")
	f.replies(`{"data": {"request": "{\"id\": \"another\"}"}}`)
	refused("another user asked")
	f.has("no-patch", "")
	refused("not permitted")
	k := new(Kubectl)
	if f.has("may-get", ""); k.MayAsk(t.Context(), "oxgang-system") {
		t.Error("who may not patch may ask")
	}
	if f.has("may-patch", ""); !k.MayAsk(t.Context(), "oxgang-system") {
		t.Error("who may get and patch may not ask")
	}
}

// The log of a job is that of its first pod, by the user's right, and bounded; why it is not there is said.
func TestPage_log(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	log := func(id job.ID) (string, error) {
		var b bytes.Buffer
		err := c.Log(t.Context(), id, &b)
		return b.String(), err
	}
	if err := os.WriteFile(filepath.Join(f.dir, "logs"), []byte(strings.Repeat("x", 100_000)+"loss 0.25\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := log("research/runs"); err != nil || len(text) != 64<<10 || !strings.HasSuffix(text, "loss 0.25\n") {
		t.Errorf("%d bytes, %v, want the last 64 KiB", len(text), err)
	}
	if calls := f.read("calls"); !strings.Contains(calls, "logs r-0 -n research --all-containers --tail=50 --limit-bytes=65536") {
		t.Errorf("calls %s", calls)
	}
	f.has("no-logs", "")
	if text, err := log("research/runs"); err != nil || !strings.HasPrefix(text, "not shown: ") || !strings.Contains(text, "pods/log") {
		t.Errorf("%q, %v, want why it is not shown", text, err)
	}
	for _, id := range []job.ID{"research/later", "secret/nb"} {
		if _, err := log(id); !errors.Is(err, page.ErrUnknown) {
			t.Errorf("%s: %v, want that it has no log here", id, err)
		}
	}
}

// Who took a job's GPUs is said, and what it has held since it was first seen with them.
func TestPage_taken(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	taken := strings.ReplaceAll(strings.Split(ofResearch, ",\n\t{")[1], `"kind": "Job", "name": "runs", "uid": "1"`, `"kind": "Job", "name": "later", "uid": "2"`)
	f.has("pods.all", strings.TrimSuffix(strings.Join(strings.Split(ofResearch, "\n")[:2], ""), ",")+", {"+taken)
	if err := c.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	j, err := c.Job(t.Context(), "research/runs", 0)
	if err != nil || len(j.Life.Changes) != 2 || !strings.HasSuffix(j.Life.Changes[1].Text, "; on its nodes these now hold more GPUs: research/later 2") {
		t.Errorf("%+v, %v", j.Life, err)
	}
	if !strings.Contains(j.Life.Note, "Since 2026-11-22 05:20:00 UTC it has held ") || strings.Contains(j.Life.Note, "held 0 GPU") {
		t.Errorf("note %q", j.Life.Note)
	}
}

// A job that does not exist is sent to the scheduler of its queue, and the answer is read.
func TestTry(t *testing.T) {
	f := newFake(t)
	f.replies(`{"data": {"reply": "{\"id\": \"ASKED\", \"answer\": {\"answer\": \"waits\", \"waiting_jobs\": 3, \"helps\": {\"kind\": \"jobs end\"}}}"}}`)
	a, err := new(Kubectl).Try(t.Context(), "oxgang-system", "training", &job.Spec{Name: "a", GPUs: 2})
	if err != nil || a.Answer != whatif.Waits || a.Others != 3 || a.Helps == nil {
		t.Errorf("%+v, %v, want that it waits beside 3 jobs", a, err)
	}
	if asked := f.read("asked"); !strings.Contains(asked, `\"try\":{`) || !strings.Contains(asked, `\"GPUs\":2`) || !strings.Contains(asked, `\"queue\":\"training\"`) {
		t.Errorf("asked %s, want the job and its queue", asked)
	}
}
