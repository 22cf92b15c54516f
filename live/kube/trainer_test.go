package kube

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func trainJob(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	text := `{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"namespace":"ns","name":"tj"},"status":` + status + `}`
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return &o
}

const saidBy = `{"trainerStatus":{"progressPercentage":37,"estimatedRemainingSeconds":90,"lastUpdatedTime":"2026-07-01T10:00:00Z",` +
	`"metrics":[{"name":"loss","value":"0.25"},{"name":"stage","value":"warm-up"},{"name":"worst","value":"NaN"},{"name":"loss","value":"0.5"}]}}`

func TestTrainer(t *testing.T) {
	at := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, status string
		want         *progress
	}{
		{"nothing", `{}`, nil},
		{"all", saidBy, &progress{Percent: 37, At: at}},
		{"metrics of any form", strings.Replace(saidBy, `"metrics":[`, `"metrics":[7,`, 1), &progress{Percent: 37, At: at}},
		{"only that it lives", `{"trainerStatus":{"lastUpdatedTime":"2026-07-01T10:00:00Z"}}`, nil},
	} {
		got, err := trainer(trainJob(t, tc.status))
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tc.name, err, diff)
		}
	}
}

// Each change of a good status is refused.
func TestTrainer_refuses(t *testing.T) {
	for _, tc := range []struct{ from, to, want string }{
		{`:37`, `:-1`, "progressPercentage -1, want 0 to 100"},
		{`:37`, `:100.5`, "progressPercentage 100.5, want 0 to 100"},
		{`:37`, `:"37"`, "progressPercentage 37, want a number"},
		{`"2026-07-01T10:00:00Z"`, `"soon"`, `lastUpdatedTime "soon", want a time`},
		{`"2026-07-01T10:00:00Z"`, `null`, `lastUpdatedTime "", want a time`},
		{`{"progressPercentage":37`, `7,"x":{"y":37`, "trainJob ns/tj"},
	} {
		if !strings.Contains(saidBy, tc.from) {
			t.Fatalf("%s is not in the good status", tc.from)
		}
		_, err := trainer(trainJob(t, strings.Replace(saidBy, tc.from, tc.to, 1)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.to, err, tc.want)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} { // no JSON, but an object in memory
		o := trainJob(t, saidBy)
		if err := unstructured.SetNestedField(o.Object, bad, "status", "trainerStatus", "progressPercentage"); err != nil {
			t.Fatal(err)
		}
		if _, err := trainer(o); err == nil {
			t.Errorf("%s: want it refused", fmt.Sprint(bad))
		}
	}
}
