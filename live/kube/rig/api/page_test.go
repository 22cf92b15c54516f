package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/page"
)

// TestPage: "kubectl oxgang ui" of an administrator shows the jobs of two tenants, in a browser if there is one; that of a tenant shows his own and
// nothing of the other, and deletes what he may delete, if he said so, and no more. Ten questions are answered within two clicks, and the
// scheduler is asked what would be.
func TestPage(t *testing.T) {
	s := theServer(t)
	t.Setenv("PATH", s.Bin+":"+os.Getenv("PATH"))
	s.forPage(t)
	t.Run("administrator", func(t *testing.T) { s.administratorSees(t) })
	t.Run("what would be", func(t *testing.T) { s.saysWhatWouldBe(t) })
	t.Run("tenant", func(t *testing.T) { s.tenantSees(t) })
	t.Run("ten questions", func(t *testing.T) { s.answersTenQuestions(t) })
}

// forPage makes two tenants, a job of each that has GPUs, one of each that waits, and the plan of their queue.
func (s *server) forPage(t *testing.T) {
	t.Helper()
	plan := object("oxgang.dev/v1alpha1", "Plan", "", "page")
	s.ends(t, plan) // after the queue, which would keep it
	all, err := rig.ReadObjects("testdata/page.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if err := s.apply(t.Context(), o); err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		s.ends(t, o)
	}
	var planned []any
	for _, tenant := range []string{"page-pia", "page-otto"} {
		for _, name := range []string{"runs", "waits"} {
			j := object("batch/v1", "Job", tenant, name)
			if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
				t.Fatal(err)
			}
			a := map[string]any{"uid": string(j.GetUID()), "kind": "Job", "namespace": tenant, "name": name, "generation": int64(1), "gpus": int64(0), "reason": "waiting: price too high", "message": "others gain more", "unblock": "it would get GPUs if it asked for 2"}
			if name == "waits" {
				a["eta"] = map[string]any{"start": map[string]any{"earliest": "2100-01-01T00:00:00Z", "likely": "2100-01-01T01:00:00Z", "latest": "2100-01-01T02:00:00Z"}}
			}
			if name == "runs" {
				a["gpus"], a["gpuType"], a["reason"], a["message"] = int64(1), "a100", "started", "there is room for it"
				p := podOf(j)
				s.makes(t, p)
				s.ends(t, p)
			}
			planned = append(planned, a)
		}
	}
	plan.Object["spec"] = map[string]any{"epoch": int64(1), "round": int64(1), "time": "2026-11-27T12:00:00.000000Z", "policy": "oxgang", "allocations": planned}
	s.makes(t, plan)
}

// ends makes an object end with the test. Admission may refuse this for a moment: it learns of a deleted queue by a watch.
func (s *server) ends(t *testing.T, o *unstructured.Unstructured) {
	t.Cleanup(func() {
		err := s.admin.Delete(context.Background(), o, client.GracePeriodSeconds(0))
		for end := time.Now().Add(10 * time.Second); apierrors.IsForbidden(err) && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			err = s.admin.Delete(context.Background(), o, client.GracePeriodSeconds(0))
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	})
}

// object returns one that is to be filled in.
func object(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// podOf returns the pod of a job that has started, on the node of the page.
func podOf(j *unstructured.Unstructured) *unstructured.Unstructured {
	p := object("v1", "Pod", j.GetNamespace(), j.GetName()+"-0")
	spec, _, _ := unstructured.NestedMap(j.Object, "spec", "template", "spec")
	spec["nodeName"] = "page-n1"
	p.Object["spec"] = spec
	p.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(j, j.GroupVersionKind())})
	return p
}

func (s *server) makes(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if err := s.admin.Create(t.Context(), o); err != nil {
		t.Fatalf("%s %s/%s: %v", o.GetKind(), o.GetNamespace(), o.GetName(), err)
	}
}

// ui runs the command as somebody whose namespace is page-pia, until the test ends, and returns the address that it prints.
func (s *server) ui(t *testing.T, name string, as *rest.Config, args ...string) string {
	t.Helper()
	file, err := s.WriteKubeconfig(name, as)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(s.Bin, "kubectl"), "--kubeconfig", file, "config", "set-context", "rig", "--namespace", "page-pia").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, w := io.Pipe()
	cmd := live.KubectlCommand()
	cmd.SetArgs(append([]string{"ui", "--kubeconfig", file}, args...))
	cmd.SetOut(w)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		_ = w.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	address, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func (s *server) administratorSees(t *testing.T) {
	url := s.ui(t, "page-admin", s.Config)
	o := seen(t, viewer(t, url), url)
	if len(o.Notes) > 0 {
		t.Errorf("it lacks %q", o.Notes)
	}
	for _, want := range []string{"page-pia/runs", "page-pia/waits", "page-otto/runs", "page-otto/waits"} {
		if !strings.Contains(o.text, want) {
			t.Errorf("no %s in %s", want, o.text)
		}
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		return
	}
	ctx := browser.Open(t)
	var text, job string
	if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.WaitVisible(`body[data-ready="true"]`), chromedp.Text("body", &text),
		chromedp.Click(`#waiting a[data-job="page-otto/waits"]`, chromedp.ByQuery), chromedp.WaitVisible("ol.life"), chromedp.Text("#job", &job)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"others gain more", "page-n1 · a100 · 5 free", ", a100: 3 of 8 held; 5 free", "queue page, mode Resize, round 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page shows %q, want %q in it", text, want)
		}
	}
	if !strings.Contains(job, "it would get GPUs if it asked for 2") {
		t.Errorf("the job shows %q", job)
	}
}

func (s *server) tenantSees(t *testing.T) {
	looks := s.ui(t, "page-looks", s.As("pia"))
	b := viewer(t, looks)
	o := seen(t, b, looks)
	if !strings.Contains(o.text, "page-pia/waits") || strings.Contains(o.text, "otto") || len(o.GPUs) > 0 {
		t.Errorf("a tenant sees %s", o.text)
	}
	if notes := strings.Join(o.Notes, " "); !strings.Contains(notes, "only namespace page-pia is shown") || !strings.Contains(notes, "plans") {
		t.Errorf("notes %q", notes)
	}
	if got := cancels(t, b, looks, "page-pia/waits"); got != http.StatusForbidden {
		t.Errorf("cancelled without --allow-cancel: status %d", got)
	}
	acts := s.ui(t, "page-acts", s.As("pia"), "--allow-cancel")
	b = viewer(t, acts)
	for id, want := range map[string]int{"page-pia/waits": http.StatusOK, "page-otto/waits": http.StatusNotFound} {
		if got := cancels(t, b, acts, id); got != want {
			t.Errorf("%s cancelled: status %d, want %d", id, got, want)
		}
	}
	for _, of := range []struct {
		tenant string
		there  bool
	}{{"page-pia", false}, {"page-otto", true}} {
		j := object("batch/v1", "Job", of.tenant, "waits")
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(j), j); (err == nil && j.GetDeletionTimestamp() == nil) != of.there {
			t.Errorf("job %s/waits: %v, want it there: %t", of.tenant, err, of.there)
		}
	}
}

type shown struct {
	page.Overview
	text string
}

// browser returns a client that has opened an address.
func viewer(t *testing.T, url string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	answer, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return c
}

func seen(t *testing.T, c *http.Client, url string) *shown {
	t.Helper()
	address, _, _ := strings.Cut(url, "?")
	answer, err := c.Get(address + "api/overview")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	o := &shown{text: string(text)}
	if err := json.Unmarshal(text, &o.Overview); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// cancels asks for the end of a job as the page does, and returns the status.
func cancels(t *testing.T, c *http.Client, url, id string) int {
	t.Helper()
	address, token, _ := strings.Cut(url, "?token=")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"api/cancel?id="+id, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", strings.TrimSuffix(address, "/"))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
