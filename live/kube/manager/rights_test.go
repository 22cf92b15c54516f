package manager

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// judged returns a leader that has all rights but those denied, and the number of times that the
// API server was asked.
func judged(denied ...string) (*leader, *int) {
	asked := new(int)
	no := interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
		*asked++
		r := o.(*authorizationv1.SelfSubjectAccessReview) //nolint:forcetypeassert // nothing else is created
		a := r.Spec.ResourceAttributes
		r.Status.Allowed = true
		for _, d := range denied {
			is := right{verb: a.Verb, group: a.Group, resource: a.Resource, subresource: a.Subresource}.String()
			r.Status.Allowed = r.Status.Allowed && d != is && d != is+" in "+a.Namespace
		}
		return nil
	}}
	return &leader{log: slog.New(slog.DiscardHandler), manager: &still{client: interceptor.NewClient(fake.NewFakeClient(), no)}}, asked
}

// A queue whose mode needs more than the scheduler may do is not served, and says what is missing.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		denied string
		mode   v1alpha1.Mode
		want   string // at the beginning; empty: nothing is missing
	}{
		{"create plans.oxgang.dev", v1alpha1.Observe, ""},
		{"create plans.oxgang.dev", v1alpha1.Off, ""},
		{"create plans.oxgang.dev", v1alpha1.Recommend, "mode Recommend needs the right to create plans.oxgang.dev"},
		{"create plans.oxgang.dev", v1alpha1.Resize, "mode Recommend needs the right to create plans.oxgang.dev"},
		{"patch jobs.batch/status", v1alpha1.Recommend, "mode Recommend needs the right to patch jobs.batch/status"},
		{"patch jobs.batch", v1alpha1.Recommend, ""},
		{"patch jobs.batch", v1alpha1.Admit, "mode Admit needs the right to patch jobs.batch, which the scheduler lacks: bind the role of the mode"},
		{"patch jobs.batch in a", v1alpha1.Admit, ""}, // in b it may
		{"patch pods/resize", v1alpha1.Admit, ""},
		{"patch pods/resize", v1alpha1.Resize, "mode Resize needs the right to patch pods/resize"},
		{"patch nodes", v1alpha1.Recommend, ""},
		{"patch nodes", v1alpha1.Admit, "spec.loans needs the right to patch nodes"},
		{"", v1alpha1.Resize, ""},
	} {
		l, asked := judged(c.denied)
		q := &v1alpha1.Queue{}
		q.Spec.Mode, q.Spec.Loans, q.Spec.Namespaces = c.mode, &v1alpha1.Lender{}, []v1alpha1.NamespaceShare{{Name: "a"}, {Name: "b"}}
		got := l.lacks(t.Context(), q)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("mode %s without %q: got %q, want %q", c.mode, c.denied, got, c.want)
		}
		before := *asked
		if l.lacks(t.Context(), q); *asked > before && c.denied == "" {
			t.Errorf("mode %s: the API server was asked again %d times, want 0", c.mode, *asked-before)
		}
	}
}
