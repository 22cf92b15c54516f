package local

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/supervisor"
)

// A program is what the workers of one generation do.
type program struct {
	token    string
	step     int // made so far
	saved    int // step of the last checkpoint
	savedAt  time.Time
	reported time.Time
	from     int // step of the last report
	sequence int64
	stopping bool
	posted   int // messages so far
}

// stride is the time of one turn of training.
const stride = 2 * time.Second

// start begins to train, from the job's last checkpoint.
func (k *simKeeper) start() {
	m, now := k.m, time.Now()
	t := m.truthOf(k.g.Job)
	t.starts++
	k.token, k.step, k.saved, k.savedAt, k.reported, k.from = m.tokens[k.g.Job], t.saved, t.saved, now, now, t.saved
	if !k.job.speaks {
		k.step = 0 // it cannot go on
	} else {
		m.post(k, "hello", agentapi.Hello{
			Version: 1, Client: "simulated", Generation: k.g.Number, WorldSize: len(k.slots), Batch: agentapi.BatchLimits{Init: 64, Max: 64},
			Samples: float64(64 * k.job.work), Restored: k.restored(),
		}, nil)
	}
	m.after(stride, k.train)
}

func (k *simKeeper) restored() *agentapi.Restored {
	if k.saved == 0 {
		return nil
	}
	return &agentapi.Restored{Step: int64(k.saved), Progress: float64(64 * k.saved), Checksum: checksum}
}

// train makes steps, and says so.
func (k *simKeeper) train() {
	if !k.up || k.stopping {
		return
	}
	k.step += int(stride.Seconds()) * len(k.slots)
	t, now := k.m.truthOf(k.g.Job), time.Now()
	switch {
	case t.starts <= k.job.fails && k.step > t.saved:
		k.over(supervisor.Exit{Code: 1})
		return
	case k.step >= k.job.work:
		k.step = k.job.work
		k.checkpoint()
		k.over(supervisor.Exit{})
		return
	case now.Sub(k.savedAt) >= k.job.saves:
		k.checkpoint()
	}
	if k.job.speaks && now.Sub(k.reported) >= 5*time.Second {
		k.report(now)
	}
	k.m.after(stride, k.train)
}

// checkpoint writes a checkpoint, and says so.
func (k *simKeeper) checkpoint() {
	if !k.job.speaks || k.step == k.saved {
		return
	}
	t := k.m.truthOf(k.g.Job)
	k.saved, k.savedAt = k.step, time.Now()
	t.saved = max(t.saved, k.step)
	step := int64(k.step)
	k.m.post(k, "checkpoint", agentapi.Checkpoint{
		Generation: k.g.Number, Step: step, Progress: float64(64 * k.step), Path: "c", Checksum: checksum, Bytes: 4,
	}, func() { t.acknowledged = max(t.acknowledged, step) })
}

func (k *simKeeper) report(now time.Time) {
	k.sequence++
	k.m.post(k, "report", agentapi.Report{
		Generation: k.g.Number, Sequence: k.sequence, Step: int64(k.step), Progress: float64(64 * k.step), Interval: now.Sub(k.reported).Seconds(),
		Batch: agentapi.Batch{Local: 64 / len(k.slots)}, StepTime: 1 / float64(len(k.slots)), SyncTime: 0.001 + float64(k.g.Number)*1e-6,
	}, nil)
	k.reported, k.from = now, k.step
}

// terminate is SIGTERM: a program that speaks saves a checkpoint and ends in its time; others end at
// once.
func (k *simKeeper) terminate() {
	if k.job.deaf {
		return
	}
	k.stopping = true
	exit, wait := supervisor.Exit{Signal: 15}, 100*time.Millisecond
	if k.job.speaks {
		exit, wait = supervisor.Exit{Code: supervisor.TempFail}, k.job.late
	}
	k.m.after(wait, func() {
		if k.up {
			k.checkpoint()
			k.over(exit)
		}
	})
}

// post sends a message of a generation until it is answered, or its generation is over; then calls
// acknowledged, if it was taken.
func (m *simulation) post(k *simKeeper, what string, message any, acknowledged func()) {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	k.posted++
	sent := k.posted
	latency := time.Duration(m.draw("latency", k.String(), what) % uint64(300*time.Millisecond))
	var send func()
	send = func() {
		switch code := m.deliver(k, what, body); {
		case code == http.StatusOK && acknowledged != nil:
			acknowledged()
		case code >= http.StatusInternalServerError || code == http.StatusTooManyRequests:
			if !k.gone || what == "checkpoint" && m.draws(k.m.draw("retry", k.String()), 2) {
				m.after(1500*time.Millisecond, send)
			}
		}
	}
	m.after(latency, send)
	if k.job.duplicate && m.draws(m.draw("twice", k.String(), what), 3) {
		m.after(latency+time.Duration(m.draw("again", k.String())%uint64(12*time.Second)), func() { m.repeat(k, what, body, sent) })
	}
}

// repeat delivers a message once more: the nth of its generation.
func (m *simulation) repeat(k *simKeeper, what string, body []byte, n int) {
	if m.deliver(k, what, body) == http.StatusServiceUnavailable {
		return
	}
	m.meet(metTwice)
	if what == "report" && n < k.posted {
		m.meet(metEarlier)
	}
}

// deliver gives a message to the scheduler, if it runs, and returns the status of the answer.
func (m *simulation) deliver(k *simKeeper, what string, body []byte) (code int) {
	now := time.Now()
	if !m.answers() || m.muted(now) {
		return http.StatusServiceUnavailable
	}
	if _, err := m.w.Agents().Job(nil, k.token); err != nil { //nolint:staticcheck // it uses no context
		return http.StatusUnauthorized
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/"+what, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+k.token)
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	m.api.ServeHTTP(answer, r)
	if answer.Code == http.StatusOK {
		m.heard[k.g.Job] = now
	}
	m.trace("%s of %v: %d %s", what, k, answer.Code, brief(answer))
	return answer.Code
}

func brief(answer *httptest.ResponseRecorder) string {
	if answer.Code == http.StatusOK {
		return ""
	}
	return answer.Body.String()
}
