package manager

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// reviews is an API server that knows the tokens "reader" and "other", and lets the first read /metrics.
func reviews(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		var t authenticationv1.TokenReview
		_ = json.NewDecoder(r.Body).Decode(&t)
		t.Status.Authenticated = t.Spec.Token == "reader" || t.Spec.Token == "other"
		t.Status.User.Username = t.Spec.Token
		_ = json.NewEncoder(w).Encode(&t)
		return
	}
	var s authorizationv1.SubjectAccessReview
	_ = json.NewDecoder(r.Body).Decode(&s)
	a := s.Spec.NonResourceAttributes
	s.Status.Allowed = s.Spec.User == "reader" && a != nil && a.Path == "/metrics" && a.Verb == "get"
	_ = json.NewEncoder(w).Encode(&s)
}

// Metrics are served over TLS only, and only to those whose token may get /metrics.
func TestMetrics_are_for_those_who_may(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(reviews))
	defer api.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	c := DefaultConfig()
	c.Metrics.Address.Address = address
	s, err := server.NewServer(metricsOptions(&c.Metrics), &rest.Config{Host: api.URL}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Start(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	self := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // it signs its certificate itself
	defer self.CloseIdleConnections()
	get := func(scheme, token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+address+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		for range 100 {
			answer, err := self.Do(r)
			if err == nil {
				answer.Body.Close()
				return answer.StatusCode
			}
			time.Sleep(50 * time.Millisecond) // it does not listen yet
		}
		return 0
	}
	for token, want := range map[string]int{"": 401, "nobody": 500 /* as controller-runtime answers */, "other": 403, "reader": 200} {
		if got := get("https", token); got != want {
			t.Errorf("token %q: %d, want %d", token, got, want)
		}
	}
	if got := get("http", "reader"); got != http.StatusBadRequest {
		t.Errorf("without TLS: %d, want 400", got)
	}
}
