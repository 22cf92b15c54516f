package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/kube/manager"
	oxjob "github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A pageQuestion is one that somebody has who looks at the page.
type pageQuestion struct {
	text, job string   // the job that is clicked on; empty: none is
	at        string   // where the answer stands
	want      []string // in the answer
}

// answersTenQuestions reads the answers from the page, one click away at most: nothing but the page of a job is opened.
func (s *server) answersTenQuestions(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip(err)
	}
	s.endsAJob(t)
	url := s.ui(t, "page-ten", s.Config)
	held := 0 // of all queues: other tests have some
	for _, v := range seen(t, viewer(t, url), url).GPUs {
		held += v.Held
	}
	ctx := browser.Open(t)
	if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.WaitVisible(`body[data-ready="true"]`)); err != nil {
		t.Fatal(err)
	}
	all := []pageQuestion{
		{"Why does a job wait?", "", "#waiting", []string{"page-otto/waits", "others gain more"}},
		{"Why does a job have what it has?", "", "#running", []string{"page-pia/runs", "2 a100 GPUs", "there is room for it"}},
		{"Which GPUs are idle?", "", "#types", []string{", a100: 3 of 8 held; 5 free"}},
		{"Who is on which GPU?", "", "#nodes", []string{"page-pia/runs: 2 GPUs on page-n1", "page-otto/runs: 1 GPU on page-n1"}},
		{"How busy was the cluster?", "", "#over", []string{fmt.Sprintf("held: %d at the end, at most %d", held, held)}},
		{"What ended last?", "", "#ended", []string{"page-pia/done completed"}},
		{"What would help it?", "page-otto/waits", "#job", []string{"it would get GPUs if it asked for 2"}},
		{"When will it go on?", "page-otto/waits", "#job", []string{"80 %"}},
		{"Who took my GPUs?", "page-pia/runs", "#job", []string{"on its nodes these now hold more GPUs: page-otto/waits 4"}},
		{"What has it cost?", "page-otto/runs", "#job", []string{"it has held", "GPU-hours"}},
	}
	for i, q := range all {
		if q.text == "Who took my GPUs?" {
			s.gives(t, "page-pia", "page-otto")
		}
		if q.job != "" && (i == 0 || all[i-1].job != q.job) {
			open := fmt.Sprintf(`main table a[data-job="%s"]`, q.job)
			if err := chromedp.Run(ctx, chromedp.WaitVisible(open), chromedp.Click(open, chromedp.ByQuery), chromedp.Poll(fmt.Sprintf(`document.getElementById("job-title")?.textContent === %q`, q.job), nil)); err != nil {
				t.Fatalf("%s: %v", q.text, err)
			}
		}
		said := fmt.Sprintf(`[document.querySelector(%q).innerText, ...[...document.querySelectorAll(%q + " [aria-label]")].map(e => e.ariaLabel)].join("\n")`, q.at, q.at)
		for _, want := range q.want {
			if err := chromedp.Run(ctx, chromedp.Poll(fmt.Sprintf(`(%s).includes(%q)`, said, want), nil, chromedp.WithPollingTimeout(within))); err != nil {
				var text string
				_ = chromedp.Run(ctx, chromedp.Evaluate(said, &text)) // for the message alone
				t.Errorf("%s: the page says %q, want %q in it: %v", q.text, text, want, err)
			}
		}
	}
}

// endsAJob makes a job of a tenant that has ended.
func (s *server) endsAJob(t *testing.T) {
	t.Helper()
	j := object("batch/v1", "Job", "page-pia", "waits")
	if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
		j = object("batch/v1", "Job", "page-pia", "runs")
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
			t.Fatal(err)
		}
	}
	done := object("batch/v1", "Job", "page-pia", "done")
	done.SetLabels(map[string]string{"oxgang.dev/queue": "page"})
	template, _, _ := unstructured.NestedMap(j.Object, "spec", "template", "spec")
	done.Object["spec"] = map[string]any{"suspend": true, "parallelism": int64(1), "completions": int64(1), "template": map[string]any{"spec": template}}
	s.makes(t, done)
	s.ends(t, done)
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": now}
	}
	done.Object["status"] = map[string]any{"startTime": now, "completionTime": now, "succeeded": int64(1), "conditions": []any{condition("SuccessCriteriaMet"), condition("Complete")}}
	if err := s.admin.Status().Update(t.Context(), done); err != nil {
		t.Fatal(err)
	}
}

// gives takes the GPUs of the job of one tenant that runs, and gives as many as it wants to that of another that waits.
func (s *server) gives(t *testing.T, from, to string) {
	t.Helper()
	if err := s.admin.Delete(t.Context(), object("v1", "Pod", from, "runs-0"), client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	j := object("batch/v1", "Job", to, "waits")
	if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
		t.Fatal(err)
	}
	p := podOf(j)
	s.makes(t, p)
	s.ends(t, p)
}

// saysWhatWouldBe asks on the page what would be. Who answers has the rights of the scheduler, and no others; a tenant can neither ask nor
// read what others asked.
func (s *server) saysWhatWouldBe(t *testing.T) {
	clients, err := kubernetes.NewForConfig(s.AsServiceAccount("oxgang-system", "oxgang"))
	if err != nil {
		t.Fatal(err)
	}
	uid := func(tenant string) oxjob.ID {
		j := object("batch/v1", "Job", tenant, "waits")
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
			t.Fatal(err)
		}
		return oxjob.ID(j.GetUID())
	}
	pia := uid("page-pia")
	asked := make(chan whatif.Question, 10)
	answer := func(_ context.Context, queue string, q whatif.Question) (*whatif.Answer, error) {
		if asked <- q; queue != "page" && q.Type == "" { // nodes are of the oldest queue that selects them
			return nil, fmt.Errorf("queue %q", queue)
		}
		at := whatif.Guess{Guess: calibration.Guess{Early: time.Hour, Late: time.Hour}}
		return &whatif.Answer{From: time.Now(), Sooner: 1, Mean: time.Hour, Jobs: []whatif.Shift{{Job: pia, Before: whatif.Guess{Guess: calibration.Guess{Early: 2 * time.Hour, Late: 2 * time.Hour}}, After: at}}}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Answer(ctx, clients.CoreV1().ConfigMaps("oxgang-system"), answer, nil) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	url := s.ui(t, "page-asks", s.Config)
	b := viewer(t, url)
	if o := seen(t, b, url); !o.Asks {
		t.Fatal("an administrator may not ask")
	}
	address, _, _ := strings.Cut(url, "?")
	for query, want := range map[string]whatif.Question{
		"cancel=page-otto%2Fwaits":       {Cancel: uid("page-otto")},
		"resize=page-pia%2Fwaits&gpus=2": {Resize: pia, GPUs: 2},
		"nodes=1&type=a100":              {Nodes: 1, Type: "a100"},
	} {
		said := fetched(t, b, address+"api/question?"+query)
		if !strings.Contains(said, `"sooner":1`) || !strings.Contains(said, `"job":"page-pia/waits"`) {
			t.Errorf("%s: %s", query, said)
		}
		if got := <-asked; got != want {
			t.Errorf("%s: the scheduler was asked %+v, want %+v", query, got, want)
		}
	}
	tenant := s.ui(t, "page-asks-not", s.As("pia"))
	b = viewer(t, tenant)
	if seen(t, b, tenant).Asks {
		t.Error("a tenant may ask")
	}
	as := s.as(identity{user: "pia"})
	if err := as.Get(t.Context(), client.ObjectKey{Namespace: "oxgang-system", Name: "oxgang-question"}, &corev1.ConfigMap{}); err == nil {
		t.Error("a tenant reads what others asked")
	}
}

// fetched returns what a page answers.
func fetched(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	answer, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
