package slurm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
)

// served is the folder where an agent API of the jobs of a Slurm is found, as long as the test runs.
func served(t *testing.T, s *slurmtest.Slurm, share string) {
	t.Helper()
	c := config()
	c.Partition, c.Mode, c.State = "gpu", resize, t.TempDir()
	c.Agents = Agents{Listen: "127.0.0.1:0", Names: []string{"localhost"}, Share: share}
	log := slog.New(slog.DiscardHandler)
	o := defaultOptions()
	o.Bounds, o.Slurm, o.Log, o.Writer = *c.bounds(), s, log, &Writer{Slurm: s, Log: log}
	w, err := openBackend(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAPI(c, w.agents(), log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() { gone <- a.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	for t.Context().Err() == nil {
		if url, err := os.ReadFile(filepath.Join(share, urlFile)); err == nil && strings.TrimSpace(string(url)) == a.url {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// says sends a message as a program does, and returns the status and the answer. trusted are certificates.
func says(t *testing.T, share string, trusted []byte, token, path, body string) (int, string, error) {
	t.Helper()
	url, err := os.ReadFile(filepath.Join(share, urlFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trusted)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodPost, strings.TrimSpace(string(url))+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

const helloOf = `{"version":1,"client":"test","generation":%d,"world_size":%d,"batch":{"init":64,"max":64},"samples":5000,"restored":null}`

// Over the network only the token of a job is heard, of the job's present start, and the scheduler is known by
// the certificates in the shared folder alone.
func TestAgents_attacks(t *testing.T) {
	s, share := slurmtest.New(slurmtest.Node("n1", "a100", 4)), t.TempDir()
	anns, bobs := client.NewToken("ann"), client.NewToken("bob")
	for user, text := range map[string]string{"ann": anns, "bob": bobs} {
		s.Submit(slurmtest.Ask{User: user, Work: 1e9, PerNode: len(user) - 1, Comment: "oxgang:elastic;min=1;max=2;token=" + client.Digest(text)})
	}
	served(t, s, share)
	trusted, err := os.ReadFile(filepath.Join(share, trustFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, attack := range []struct {
		name, token, path, body string
		status                  int
		want                    string
	}{
		{"none", "", "/v1/hello", fmt.Sprintf(helloOf, 1, 2), http.StatusUnauthorized, "unknown token"},
		{"a digest that everybody can read", client.Digest(anns), "/v1/hello", fmt.Sprintf(helloOf, 1, 2), http.StatusUnauthorized, "unknown token"},
		{"a token of no job", client.NewToken("ann"), "/v1/hello", fmt.Sprintf(helloOf, 1, 2), http.StatusUnauthorized, "unknown token"},
		{"another job in the body", bobs, "/v1/hello", strings.Replace(fmt.Sprintf(helloOf, 1, 2), "{", `{"job":"1",`, 1), http.StatusBadRequest, "job"},
		{"a start that is over", anns, "/v1/hello", fmt.Sprintf(helloOf, 0, 2), http.StatusBadRequest, "generation"},
		{"a start that is to come", anns, "/v1/hello", fmt.Sprintf(helloOf, 2, 2), http.StatusServiceUnavailable, "not known yet"},
		{"more workers than GPUs", anns, "/v1/hello", fmt.Sprintf(helloOf, 1, 3), http.StatusBadRequest, "want 2, one for each GPU"},
		{"another page", anns, "/metrics", "", http.StatusNotFound, "no such endpoint"},
		{"the job itself", anns, "/v1/hello", fmt.Sprintf(helloOf, 1, 2), http.StatusOK, "report_seconds"},
	} {
		status, answer, err := says(t, share, trusted, attack.token, attack.path, attack.body)
		if err != nil || status != attack.status || !strings.Contains(answer, attack.want) {
			t.Errorf("%s: got %d %s, %v, want %d, %s", attack.name, status, answer, err, attack.status, attack.want)
		}
	}
	other, err := agentapi.NewCertificate(agentapi.CertificateOptions{Names: []string{"localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Renew(); err != nil {
		t.Fatal(err)
	}
	for name, trusted := range map[string][]byte{"another authority": other.Trusted(), "none": nil} {
		if status, _, err := says(t, share, trusted, anns, "/v1/hello", fmt.Sprintf(helloOf, 1, 2)); err == nil {
			t.Errorf("certificates of %s: got %d, want that the server is not believed", name, status)
		}
	}
}

// A start that was requeued is refused for good: it has to stop.
func TestAgents_old_start(t *testing.T) {
	s, share := slurmtest.New(slurmtest.Node("n1", "a100", 2)), t.TempDir()
	anns := client.NewToken("ann")
	id := s.Submit(slurmtest.Ask{User: "ann", Work: 1e9, PerNode: 2, Comment: "oxgang:elastic;min=1;max=2;token=" + client.Digest(anns)})
	if err := s.Requeue(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), id, client.Field{Name: "StartTime", Value: "now+0"}); err != nil { // it starts again
		t.Fatal(err)
	}
	served(t, s, share)
	trusted, err := os.ReadFile(filepath.Join(share, trustFile))
	if err != nil {
		t.Fatal(err)
	}
	if status, answer, err := says(t, share, trusted, anns, "/v1/hello", fmt.Sprintf(helloOf, 1, 2)); err != nil || status != http.StatusConflict {
		t.Errorf("got %d %s, %v, want 409", status, answer, err)
	}
}

// A folder has the certificates of the scheduler before, which workers need until they read it again.
func TestPublish(t *testing.T) {
	s, share := slurmtest.New(slurmtest.Node("n1", "a100", 4)), t.TempDir()
	var texts []string
	for range 2 {
		served(t, s, share)
		text, err := os.ReadFile(filepath.Join(share, trustFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if !strings.HasSuffix(texts[1], texts[0]) || strings.Count(texts[1], "BEGIN") != 2 {
		t.Errorf("the second scheduler publishes\n%s\nwant its certificate and the first's\n%s", texts[1], texts[0])
	}
}
