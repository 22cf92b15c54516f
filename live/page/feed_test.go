package page

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A flood of viewers is refused before it uses up memory and descriptors, and is forgotten when it ends.
func TestChanges_bounds_streams(t *testing.T) {
	f := &feed{}
	f.streams.Store(maxStreams)
	answer := httptest.NewRecorder()
	f.changes(answer, httptest.NewRequest(http.MethodGet, "/api/changes", nil))
	if n := f.streams.Load(); answer.Code != http.StatusServiceUnavailable || n != maxStreams {
		t.Errorf("status %d, %d streams; want 503 and %d", answer.Code, n, maxStreams)
	}
}
