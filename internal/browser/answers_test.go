package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const toy = `<!doctype html><title>x</title><body><div style="height: 3000px"></div><p id="state">full</p><a href="#/job/a">a</a><section id="job" hidden><h2 id="job-title">a</h2><p>fails</p></section>
<script>document.querySelector("a").addEventListener("click", () => { document.getElementById("job").hidden = false; }); setTimeout(() => { document.body.dataset.ready = "true"; }, 200);</script>`

// Both browsers click and read, and report only the questions without an answer.
func TestBrowser_answers(t *testing.T) {
	Wanted(t)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(toy))
	}))
	defer h.Close()
	right := []Question{{"is it full?", "", "#state", "full"}, {"what does a do?", "a", "#job", "fails"}}
	wrong := []Question{{"hidden?", "", "#job", "fails"}, {"empty?", "", "#state", ""}, {"absent?", "a", "#none", "x"}, {"no such link?", "b", "#job", "fails"}}
	inEach(t, func(t *testing.T, v viewer) {
		got := unanswered(v, h.URL, slices.Concat(right[:1], wrong, right[1:]))
		for i, q := range wrong {
			if len(got) != len(wrong) || !strings.HasPrefix(got[i], q.Name) {
				t.Fatalf("unanswered are %q, want %v", got, wrong)
			}
		}
	})
}
