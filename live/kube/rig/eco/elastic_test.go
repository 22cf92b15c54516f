package eco

import (
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// asTrainJob makes trainjob.yaml one of two nodes of eight GPUs of queue train.
var asTrainJob = []string{"{name: NAME}", "{name: trains, labels: {oxgang.dev/queue: train}, annotations: {" + v1alpha1.RunSeconds + `: "100"}}`, `nvidia.com/gpu: "1"`, `nvidia.com/gpu: "8"`}

// TestElastic: with JobSet's feature gate, a JobSet that requests 2 workers and allows 1 to 4 runs on 4, gives way
// to a TrainJob, and grows back. Its driver without GPUs runs next to it. A TrainJob keeps its size, because
// Trainer refuses changes.
func TestElastic(t *testing.T) {
	s := serve(t, 4, "afs", true, ElasticJobSet, Trainer)
	apply(t, s.Cluster, "runtime.yaml", "")
	s.submit("elastic.yaml", "set")
	t.Logf("alone it runs on 4 nodes after %v", s.runs("set", 4, 8))
	s.submit("trainjob.yaml", "trains", asTrainJob...)
	t.Logf("the TrainJob runs after %v", s.runs("trains", 2, 8))
	t.Logf("and the JobSet on the other 2 nodes %v later", s.runs("set", 2, 8))
	has(t, s.Cluster, "set-driver", 1)
	t.Run("a TrainJob that says that it may be resized", func(t *testing.T) {
		bound := *s
		bound.T = t
		bound.submit("trainjob.yaml", "bends", append([]string{
			"{name: NAME}", "{name: bends, labels: {oxgang.dev/queue: train}, annotations: {" + v1alpha1.ResizeBy + ": Restart}}",
		}, asTrainJob[2:]...)...)
		bound.says("trainjob/bends", "Misconfigured", "Trainer lets nobody change spec.trainer")
		bound.remove("trainjob/bends")
	})
	s.remove("trainjob/trains")
	t.Logf("the JobSet has all 4 nodes again %v after the TrainJob was deleted", s.runs("set", 4, 8))
	s.sound()
}

// TestElastic_refused: where the administrator says that JobSet's gate is on, and it is not, the job says what JobSet says.
func TestElastic_refused(t *testing.T) {
	s := serve(t, 4, "afs", true, JobSet)
	s.submit("elastic.yaml", "set")
	s.says("jobset/set", "StepFailed", "field is immutable")
	s.sound()
}

// submit makes what a file of testdata says, as soon as the API server keeps the rules of the chart.
func (s *served) submit(file, name string, replace ...string) {
	s.Helper()
	e2e.Until(s.Context(), s, patience, "the API server takes "+name, func() error { return made(s.Context(), s.Cluster, file, name, replace...) })
}
