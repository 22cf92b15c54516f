package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// create makes a ConfigMap, with one attempt and no more.
func create(t *testing.T, client *kubernetes.Clientset, ns, name string) error {
	return client.CoreV1().RESTClient().Post().Namespace(ns).Resource("configmaps").Body(configMap(name)).
		MaxRetries(0).Do(t.Context()).Error()
}

// exists asks past the proxy.
func exists(t *testing.T, ns, name string) bool {
	t.Helper()
	_, err := clientFor(t, cluster(t).Config).CoreV1().ConfigMaps(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestAnswers(t *testing.T) {
	ns := namespace(t)
	tests := []struct {
		code  int
		after time.Duration
		is    func(error) bool
	}{
		{http.StatusConflict, 0, apierrors.IsConflict},
		{http.StatusGone, 0, apierrors.IsResourceExpired},
		{http.StatusTooManyRequests, 3 * time.Second, apierrors.IsTooManyRequests},
		{http.StatusInternalServerError, 0, apierrors.IsInternalError},
		{http.StatusServiceUnavailable, 0, apierrors.IsServiceUnavailable},
	}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.code), func(t *testing.T) {
			p, client := proxied(t)
			p.Rules.Answer(&Match{Verb: "create", Resource: "configmaps"}, 1, tt.code, tt.after)
			name := strings.ToLower(strings.ReplaceAll(http.StatusText(tt.code), " ", "-"))
			err := create(t, client, ns, name)
			if !tt.is(err) || exists(t, ns, name) {
				t.Fatalf("answered with %v, exists: %t; want %d and nothing written", err, exists(t, ns, name), tt.code)
			}
			if s, ok := apierrors.SuggestsClientDelay(err); tt.after > 0 && (!ok || s != 3) {
				t.Errorf("told to wait %d s, %t, want 3", s, ok)
			}
			if err := create(t, client, ns, name); err != nil {
				t.Errorf("the call after: %v", err)
			}
			if codes := codesOf(p); !slices.Equal(codes, []int{tt.code, http.StatusCreated}) {
				t.Errorf("noted %v, want %d and 201", codes, tt.code)
			}
		})
	}
}

func codesOf(p *Proxy) (codes []int) {
	for _, c := range p.Calls() {
		codes = append(codes, c.Code)
	}
	return codes
}

// client-go does what it is told by Retry-After.
func TestRetryAfterIsObeyed(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Answer(&Match{Verb: "create"}, 1, http.StatusTooManyRequests, time.Second)
	begin := time.Now()
	if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < time.Second {
		t.Errorf("created after %s, want at least the 1s of Retry-After", took)
	}
}

func TestCuts(t *testing.T) {
	ns := namespace(t)
	for name, when := range map[string]Cut{"before": BeforeSent, "after": AfterAnswer} {
		t.Run(name, func(t *testing.T) {
			p, client := proxied(t)
			p.Rules.Cut(&Match{Verb: "create", Resource: "configmaps"}, 1, when)
			err := create(t, client, ns, name)
			var status apierrors.APIStatus
			if err == nil || errors.As(err, &status) {
				t.Errorf("answered with %v, want a broken connection", err)
			}
			if got := exists(t, ns, name); got != (when == AfterAnswer) {
				t.Errorf("exists: %t", got)
			}
		})
	}
}

func next(t *testing.T, w watch.Interface) (kind watch.EventType, name string) {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch ended")
		}
		return e.Type, e.Object.(*corev1.ConfigMap).Name
	case <-time.After(30 * time.Second):
		t.Fatal("no event within 30s")
	}
	return "", ""
}

// watched returns a watch through the proxy of what is written from now on to a namespace.
func watched(t *testing.T, client *kubernetes.Clientset, ns string) watch.Interface {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.CoreV1().ConfigMaps(ns).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func TestDroppedEvent(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Drop("configmaps", 1, func(e Event) bool { return e == Event{"ADDED", ns, "b"} })
	w := watched(t, client, ns)
	for _, name := range []string{"a", "b", "c"} {
		if err := create(t, client, ns, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a", "c"} {
		if _, name := next(t, w); name != want {
			t.Errorf("event of %q, want %q", name, want)
		}
	}
}

// The watch is late by what was said, in order; another resource's is not.
func TestDelayedWatch(t *testing.T) {
	const d = 700 * time.Millisecond
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Delay("secrets", time.Hour)
	p.Rules.Delay("configmaps", d)
	w := watched(t, client, ns)
	begin := time.Now()
	for _, name := range []string{"a", "b"} {
		if err := create(t, client, ns, name); err != nil {
			t.Fatal(err)
		}
	}
	_, first := next(t, w)
	took := time.Since(begin)
	_, second := next(t, w)
	if first != "a" || second != "b" || took < d {
		t.Errorf("%s after %s, then %s; want a after at least %s, then b", first, took, second, d)
	}
	p.Rules.Delay("configmaps", 0)
	if err := create(t, client, ns, "c"); err != nil {
		t.Fatal(err)
	}
	if _, name := next(t, w); name != "c" {
		t.Errorf("then %s, want c", name)
	}
}

// Events that are held come when they are let go, in their order and before those that come
// after.
func TestHeldWatch(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	w := watched(t, client, ns)
	release := p.Rules.Hold("configmaps")
	defer release()
	other := watched(t, clientFor(t, cluster(t).Config), ns)
	for _, name := range []string{"a", "b"} {
		if err := create(t, client, ns, name); err != nil {
			t.Fatal(err)
		}
		next(t, other) // the API server has told of it
	}
	select {
	case e := <-w.ResultChan():
		t.Errorf("%s while they are held", e.Type)
	case <-time.After(200 * time.Millisecond):
	}
	release()
	if err := create(t, client, ns, "c"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b", "c"} {
		if _, name := next(t, w); name != want {
			t.Errorf("event of %q, want %q", name, want)
		}
	}
}

func TestThrottle(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Throttle(10, Match{Verb: "create"}, Match{Verb: "delete"})
	begin := time.Now()
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := create(t, client, ns, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.CoreV1().ConfigMaps(ns).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("5 calls took %s, want at least the 400ms between them at 10/s", took)
	}
}

// An API server with too much to do is late with each call, and refuses one of some.
func TestLoad(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Load(100*time.Millisecond, 3)
	begin := time.Now()
	for _, name := range []string{"a", "b", "c"} { // the third is asked twice, a second later
		if _, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), configMap(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < 1400*time.Millisecond {
		t.Errorf("4 calls took %s, want at least 1.4s", took)
	}
	if codes := codesOf(p); !slices.Equal(codes, []int{201, 201, 429, 201}) {
		t.Errorf("answered with %v, want one of three refused", codes)
	}
}

// The hook is asked at three moments: at the first nothing is written, at the second it is and
// the client does not know, at the third the client knows and waits with its next call.
func TestMoments(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	type seen struct {
		moment   Moment
		there    bool
		answered bool
	}
	var all []seen
	knows := make(chan error, 1)
	p.Hook(func(_ *Call, m Moment) bool {
		s := seen{moment: m, there: exists(t, ns, "a")}
		if m == Answered {
			s.answered = <-knows == nil
		}
		all = append(all, s)
		return true
	})
	knows <- create(t, client, ns, "a")
	p.Idle()
	want := []seen{{Before, false, false}, {Applied, true, false}, {Answered, true, true}}
	if !slices.Equal(all, want) {
		t.Errorf("moments %v, want %v", all, want)
	}
}

// While a hook is at Answered nothing else is let through.
func TestAnsweredHoldsTheNextCall(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	second := make(chan error, 1)
	p.Hook(func(c *Call, m Moment) bool {
		if c.Number == 1 && m == Answered {
			go func() { second <- create(t, client, ns, "b") }()
			select {
			case err := <-second:
				t.Errorf("the next call was answered: %v", err)
			case <-time.After(200 * time.Millisecond):
			}
			if exists(t, ns, "b") {
				t.Error("the next call was let through")
			}
		}
		return true
	})
	if err := create(t, client, ns, "a"); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil || !exists(t, ns, "b") {
		t.Errorf("afterwards: %v, want it done", err)
	}
}

func TestNumbers(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	maps := client.CoreV1().ConfigMaps(ns)
	a, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Namespace: ns}}
	for _, err := range []error{
		ignore(client.CoreV1().Events(ns).Create(t.Context(), event, metav1.CreateOptions{})),
		ignore(maps.Get(t.Context(), "a", metav1.GetOptions{})),
		ignore(maps.Update(t.Context(), a, metav1.UpdateOptions{})),
		maps.Delete(t.Context(), "a", metav1.DeleteOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, c := range p.Calls() {
		got = append(got, c.String())
	}
	if want := []string{"create configmaps", "update configmaps a", "delete configmaps a"}; !slices.Equal(got, want) {
		t.Errorf("numbered %q, want %q: neither reads nor events", got, want)
	}
	if gets, all := p.Asked(Match{Verb: "get", Resource: "configmaps"}), p.Asked(Match{Resource: "configmaps"}); gets != 1 || all != 4 {
		t.Errorf("asked for ConfigMaps %d times, %d of them gets, want 4 and 1", all, gets)
	}
}

func ignore[T any](_ T, err error) error { return err }

func TestParse(t *testing.T) {
	tests := []struct{ method, url, want, namespace string }{
		{"GET", "/api/v1/pods?watch=true", "watch pods", ""},
		{"GET", "/api/v1/namespaces/x/pods", "list pods", "x"},
		{"GET", "/api/v1/namespaces/x", "get namespaces x", ""},
		{"PUT", "/api/v1/namespaces/x/finalize", "update namespaces/finalize x", ""},
		{"POST", "/api/v1/namespaces/x/pods/p/binding", "create pods/binding p", "x"},
		{"PATCH", "/apis/oxgang.dev/v1alpha1/plans/q/status", "patch plans.oxgang.dev/status q", ""},
		{"DELETE", "/apis/batch/v1/namespaces/x/jobs", "deletecollection jobs.batch", "x"},
		{"GET", "/readyz", "get", ""},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if c := parse(&http.Request{Method: tt.method, URL: u}); c.String() != tt.want || c.Namespace != tt.namespace {
			t.Errorf("%s %s: %q in %q, want %q in %q", tt.method, tt.url, c, c.Namespace, tt.want, tt.namespace)
		}
	}
}

// A client that goes away while an event waits leaves nothing behind: Close returns.
func TestCloseWithALateEvent(t *testing.T) {
	ns := namespace(t)
	p, err := New(cluster(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	client := clientFor(t, p.Config())
	p.Rules.Delay("configmaps", time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := client.CoreV1().ConfigMaps(ns).Watch(ctx, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := create(t, client, ns, "a"); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { p.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("the proxy does not close")
	}
}

func TestNewRefusesPlainHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	defer s.Close()
	if _, err := New(&rest.Config{Host: s.URL}); err == nil || !strings.Contains(err.Error(), "want https://host:port") {
		t.Errorf("error %v, want one that names the form", err)
	}
}

// What Answer and Cut began ends with Calm, which says how much of it never came.
func TestCalm(t *testing.T) {
	ns := namespace(t)
	p, client := proxied(t)
	p.Rules.Answer(&Match{Verb: "create"}, 1000, http.StatusServiceUnavailable, 0)
	for range 2 {
		if err := create(t, client, ns, "calm"); !apierrors.IsServiceUnavailable(err) {
			t.Fatalf("answered with %v, want 503", err)
		}
	}
	p.Rules.Cut(&Match{Verb: "create"}, 3, BeforeSent)
	if left := p.Rules.Calm(); left != 1001 {
		t.Errorf("%d calls were still to be answered or cut, want 1001", left)
	}
	if err := create(t, client, ns, "calm"); err != nil || !exists(t, ns, "calm") {
		t.Errorf("afterwards: %v, want it done", err)
	}
}
