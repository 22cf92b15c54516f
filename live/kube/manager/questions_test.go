package manager

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/oxgang/oxgang/live/kube/wire"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A question is answered once, by the queue that it names, with the jobs for which most changes; what is no question, or has no answer, is
// refused in words.
func TestAnswer(t *testing.T) {
	maps := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "oxgang-system", Name: wire.QuestionMap}}).CoreV1().ConfigMaps("oxgang-system")
	asked := make(map[string]int)
	answer := func(_ context.Context, queue string, q whatif.Question) (*whatif.Answer, error) {
		asked[queue+" "+string(q.Cancel)]++
		time.Sleep(50 * time.Millisecond) // meanwhile the question is asked again, and events of that come after the reply
		if queue != "q" {
			return nil, errors.New("queue is not served")
		}
		a := &whatif.Answer{Sooner: 30}
		for range 30 {
			a.Jobs = append(a.Jobs, whatif.Shift{Job: job.ID("j"), Before: whatif.Guess{Guess: calibration.Guess{Early: time.Hour, Late: time.Hour}}})
		}
		return a, nil
	}
	try := func(_ context.Context, queue string, spec *job.Spec) (*whatif.TrialAnswer, error) {
		return &whatif.TrialAnswer{Job: spec.Name, Answer: whatif.Waits, Others: spec.GPUs}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Answer(ctx, maps, answer, try) }()
	send := func(of wire.Request) wire.Reply {
		t.Helper()
		id := of.ID
		patch, err := wire.PatchQuestion(wire.RequestKey, of)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			m, err := maps.Patch(ctx, wire.QuestionMap, types.MergePatchType, patch, metav1.PatchOptions{}) // again: its watch may not be up yet
			if err != nil {
				t.Fatal(err)
			}
			if _, said := wire.ReadQuestion(m.Data); said.ID == id {
				return said
			}
		}
		t.Fatalf("%s is not answered", id)
		return wire.Reply{}
	}
	ask := func(id, queue, q string) wire.Reply {
		t.Helper()
		return send(wire.Request{ID: id, Queue: queue, Question: json.RawMessage(q)})
	}
	var tried whatif.TrialAnswer
	if said := send(wire.Request{ID: "try", Queue: "q", Try: json.RawMessage(`{"Name": "n", "GPUs": 2}`)}); json.Unmarshal(said.Answer, &tried) != nil || tried.Job != "n" || tried.Others != 2 {
		t.Errorf("answered %+v", said)
	}
	if said := send(wire.Request{ID: "bad", Queue: "q", Try: json.RawMessage(`{"GPUs": 0}`)}); said.Refused != "the job is not valid" {
		t.Errorf("answered %+v", said)
	}
	var a whatif.Answer
	if said := ask("1", "q", `{"Cancel": "u"}`); said.Refused != "" || json.Unmarshal(said.Answer, &a) != nil || a.Sooner != 30 || len(a.Jobs) != wire.MostJobs {
		t.Errorf("answered %+v", said)
	}
	if said := ask("2", "other", `{"Cancel": "u"}`); said.Refused != "queue is not served" || said.Answer != nil {
		t.Errorf("answered %+v", said)
	}
	if said := ask("3", "q", `"what?"`); said.Refused != "the question is not valid" {
		t.Errorf("answered %+v", said)
	}
	if asked["q u"] != 1 || asked["other u"] != 1 {
		t.Errorf("asked %v, want each once", asked)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An answer that cannot be written once is no reason to answer nobody for ten minutes.
func TestAnswer_that_cannot_be_written(t *testing.T) {
	all := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "oxgang-system", Name: wire.QuestionMap}})
	maps := all.CoreV1().ConfigMaps("oxgang-system")
	patch, err := wire.PatchQuestion(wire.RequestKey, wire.Request{ID: "1", Queue: "q", Question: json.RawMessage(`{"Cancel": "u"}`)})
	if err != nil {
		t.Fatal(err)
	}
	shown := watch.NewFake()
	all.PrependWatchReactor("configmaps", clienttesting.DefaultWatchReactor(shown, nil))
	all.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the API server is away")
	})
	var m struct{ Data map[string]string }
	if err := json.Unmarshal(patch, &m); err != nil {
		t.Fatal(err)
	}
	go shown.Modify(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: wire.QuestionMap}, Data: m.Data})
	answer := func(context.Context, string, whatif.Question) (*whatif.Answer, error) { return &whatif.Answer{}, nil }
	if err := Answer(t.Context(), maps, answer, nil); err != nil {
		t.Error(err)
	}
}
