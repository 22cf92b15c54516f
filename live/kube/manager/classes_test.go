package manager

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func class(name string, value int32, byDefault bool) schedulingv1.PriorityClass {
	return schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: byDefault}
}

func TestClasses(t *testing.T) {
	var c classes
	if v, known := c.value("high"); v != 0 || !known {
		t.Errorf("before the watch is up: %d, known %v, want 0, and nothing said of the class", v, known)
	}
	c.set([]schedulingv1.PriorityClass{class("high", 1000, false), class("usual", 20, true), class("base", 10, true)})
	for name, want := range map[string]int32{"high": 1000, "usual": 20, "": 10} {
		if v, known := c.value(name); v != want || !known {
			t.Errorf("%q: %d, known %v, want %d", name, v, known, want)
		}
	}
	if v, known := c.value("gone"); v != 0 || known {
		t.Errorf("one that is not there: %d, known %v", v, known)
	}
	c.set(nil)
	if v, _ := c.value(""); v != 0 {
		t.Errorf("without a default: %d, want 0", v)
	}
}

// A scheduler with the roles of an earlier version goes on, and says what it lacks.
func TestClasses_forbidden(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := schedulingv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	forbidden := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}, "", nil)
		},
	})
	var said bytes.Buffer
	l := &leader{manager: &still{client: forbidden}, log: slog.New(slog.NewTextHandler(&said, nil))}
	if err := l.watchClasses(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, known := l.classes.value("any"); !known || !strings.Contains(said.String(), "may not list PriorityClasses") {
		t.Errorf("known %v, said %q", known, said.String())
	}
}
