package driver

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A web page that gave its own name the scheduler's address cannot read the metrics.
func TestMetrics_refuse_other_hosts(t *testing.T) {
	h := ownHost(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:9464": http.StatusOK, "[::1]:9464": http.StatusOK, "[::1]": http.StatusOK, "localhost:9464": http.StatusOK, "LOCALHOST": http.StatusOK,
		"evil.example:9464": http.StatusForbidden, "localhost.evil.example": http.StatusForbidden, "": http.StatusForbidden,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}
}
