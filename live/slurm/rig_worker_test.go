package slurm

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
)

// A step of the light training takes this many samples of all workers, and stepTime of so many GPUs, whatever their type.
const stepSamples = 64

// stepTime returns the seconds of a step on so many GPUs, and of which its workers exchange gradients. One GPU takes
// 0.195 s, two are 1.9 times as fast, four 3.3, eight 4.9 and sixteen 5.4 times.
func stepTime(gpus int) (all, exchange float64) {
	if gpus > 1 {
		exchange = 0.005 + 0.001*float64(gpus-2)
	}
	return 0.005 + 0.19/float64(gpus) + exchange, exchange
}

// lightSteps has in its value the steps of a light training: this program is then the first worker of it, and runs no tests.
const lightSteps = "OXGANG_LIGHT_STEPS"

func TestMain(m *testing.M) {
	if text := os.Getenv(lightSteps); text != "" {
		os.Exit(light(text))
	}
	os.Exit(m.Run())
}

// stopped is the status of a training that saved a checkpoint on notice.
const stopped = 75

// A lightWorker trains nothing: it lets time pass as its steps take it. Without a token it says nothing to a scheduler.
type lightWorker struct {
	total, done float64 // steps
	gpus        int
	generation  int
	saved       string // path of its checkpoint
	client      *http.Client
	url, token  string
	greeted     bool
	said        int64 // reports
	last        time.Time
}

// light runs a training of so many steps to its end or its notice, and returns its status.
func light(steps string) int {
	w := &lightWorker{saved: filepath.Join(os.Getenv("OXGANG_CHECKPOINTS"), "steps"), token: os.Getenv("OXGANG_TOKEN")}
	w.total, _ = strconv.ParseFloat(steps, 64)
	w.gpus, _ = strconv.Atoi(os.Getenv("WORLD_SIZE"))
	w.generation, _ = strconv.Atoi(os.Getenv("OXGANG_GENERATION"))
	if text, err := os.ReadFile(w.saved); err == nil {
		w.done, _ = strconv.ParseFloat(string(text), 64)
	}
	step, _ := stepTime(w.gpus)
	for at := time.Now(); w.done < w.total; {
		time.Sleep(100 * time.Millisecond)
		now := time.Now()
		w.done, at = w.done+now.Sub(at).Seconds()/step, now
		if _, err := os.Stat(os.Getenv("OXGANG_NOTICE")); err == nil {
			return w.save()
		}
		w.speak(now)
	}
	return 0
}

// save writes a checkpoint, whole or not at all.
func (w *lightWorker) save() int {
	text := strconv.FormatFloat(min(w.done, w.total), 'f', 3, 64)
	if err := errors.Join(os.WriteFile(w.saved+".new", []byte(text), 0o600), os.Rename(w.saved+".new", w.saved)); err != nil {
		return 1
	}
	return stopped
}

// speak says hello until that is heard, and then what was measured, every two seconds.
func (w *lightWorker) speak(now time.Time) {
	if w.token == "" || now.Sub(w.last) < 500*time.Millisecond || w.greeted && now.Sub(w.last) < 2*time.Second {
		return
	}
	defer func() { w.last = now }()
	if !w.greeted {
		w.greeted = w.post("hello", w.hello()) == nil
		return
	}
	step, exchange := stepTime(w.gpus)
	w.said++
	// What is not heard is said again two seconds later.
	_ = w.post("report", &agentapi.Report{
		Generation: w.generation, Sequence: w.said, Step: int64(w.done), Progress: float64(int64(w.done)) * stepSamples,
		Interval: now.Sub(w.last).Seconds(), Batch: agentapi.Batch{Local: stepSamples / w.gpus}, StepTime: step, SyncTime: exchange,
	})
}

func (w *lightWorker) hello() *agentapi.Hello {
	h := &agentapi.Hello{
		Version: agentapi.Version, Client: "light", Generation: w.generation, WorldSize: w.gpus,
		Batch: agentapi.BatchLimits{Init: stepSamples, Max: stepSamples}, Samples: w.total * stepSamples,
	}
	if w.generation > 1 && w.done > 0 {
		h.Restored = &agentapi.Restored{Step: int64(w.done), Progress: float64(int64(w.done)) * stepSamples, Checksum: "sha256:" + strings.Repeat("0", 64)}
	}
	return h
}

// reach makes a client, once the scheduler's address and certificates are there.
func (w *lightWorker) reach() error {
	url, err := os.ReadFile(os.Getenv("OXGANG_URL_FILE"))
	pem, missing := os.ReadFile(os.Getenv("OXGANG_CA_FILE"))
	if err = errors.Join(err, missing); err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	w.client = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}}
	w.url = strings.TrimSpace(string(url))
	return nil
}

// post sends a message. It returns an error unless the scheduler takes it.
func (w *lightWorker) post(what string, message any) error {
	if w.client == nil {
		if err := w.reach(); err != nil {
			return err
		}
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/v1/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", what, answer.Status)
	}
	return nil
}

// lightCommand is the command of each worker of a light training, with a folder for its checkpoint. All but the first wait until
// that one ends.
func lightCommand(steps float64, folder string) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	const text = `export OXGANG_CHECKPOINTS=$2
mkdir -p "$2"
end=$OXGANG_CHECKPOINTS/end-$OXGANG_GENERATION
if [ "$RANK" = 0 ]; then ` + lightSteps + `="$1" "$0"; status=$?; : >"$end"; exit "$status"; fi
exec 9<> <(:)
until [ -e "$end" ]; do read -r -t 0.5 -u 9; done
exit 0`
	return []string{"bash", "-c", text, program, strconv.FormatFloat(steps, 'f', 3, 64), folder}, nil
}

// A light training that is told to stop keeps what it has done, and goes on from there; its hello says so.
func TestLight(t *testing.T) {
	dir := t.TempDir()
	notice := filepath.Join(dir, "notice")
	t.Setenv("OXGANG_CHECKPOINTS", dir)
	t.Setenv("OXGANG_NOTICE", notice)
	t.Setenv("WORLD_SIZE", "1")
	t.Setenv("OXGANG_GENERATION", "1")
	if err := os.WriteFile(notice, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := light("1.2"); got != stopped {
		t.Errorf("on notice its status is %d, want %d", got, stopped)
	}
	text, err := os.ReadFile(filepath.Join(dir, "steps"))
	if done, bad := strconv.ParseFloat(string(text), 64); err != nil || bad != nil || !(done > 0.4 && done < 1.2) {
		t.Errorf("it saved %q steps (%v), want those of a tenth of a second", text, err)
	}
	if err := errors.Join(os.Remove(notice), os.WriteFile(filepath.Join(dir, "steps"), []byte("1000"), fs.FileMode(0o600))); err != nil {
		t.Fatal(err)
	}
	if got := light("1000.1"); got != 0 {
		t.Errorf("at its end its status is %d, want 0", got)
	}
}
