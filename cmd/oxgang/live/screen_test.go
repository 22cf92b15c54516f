package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

var at = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world has waiting jobs w0, w1, ... of which the last waits longest, running jobs r0, r1, ..., and nodes of 4 GPUs.
func world(waiting, running, nodes int) *status.Status {
	s := &status.Status{Backend: status.Machine, Title: "box", At: at, GPUs: []status.GPUs{{Type: "h200", Total: 4 * nodes, Held: running}}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, status.Node{Name: fmt.Sprintf("n%d", i), Type: "h200", GPUs: 4, Used: 1, Held: []status.Holder{{Job: "r0", GPUs: 1}}})
	}
	for i := range waiting {
		s.Jobs = append(s.Jobs, status.Job{ID: job.ID(fmt.Sprintf("w%d", i)), Name: "train", User: "ada", Phase: "waiting", MaxGPUs: 2, Sentence: "no GPU is free", Since: at.Add(-time.Duration(i) * time.Minute)})
	}
	for i := range running {
		s.Jobs = append(s.Jobs, status.Job{ID: job.ID(fmt.Sprintf("r%d", i)), User: "bob", Phase: "running", GPUs: 1, GPUType: "h200"})
	}
	return s
}

func open(s *status.Status, width, height int) *screen {
	m := &screen{now: s}
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// press sends keys by their names, such as "down", or as text.
func (m *screen) press(keys ...string) {
	named := map[string]rune{"down": tea.KeyDown, "up": tea.KeyUp, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace}
	for _, k := range keys {
		if code, ok := named[k]; ok {
			m.Update(tea.KeyPressMsg{Code: code})
		} else {
			m.Update(tea.KeyPressMsg{Code: []rune(k)[0], Text: k})
		}
	}
}

func TestView(t *testing.T) {
	m := open(world(2, 1, 2), 100, 24)
	m.now.Jobs[2].Trouble, m.now.SilentSince = "its checkpoint is damaged", m.now.At.Add(-time.Hour)
	text := m.text()
	for _, want := range []string{
		"box: 1 of 8 GPUs held, 7 free; 2 jobs waiting, 1 running", "! the scheduler has not answered since " + m.now.SilentSince.Local().Format("15:04"), "! r0: its checkpoint is damaged", "n1 h200 ■□□□  r0 1", "WAITING (2)", "RUNNING (1)", "j/k or arrows",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Index(text, "w1") > strings.Index(text, "w0") {
		t.Errorf("w1 waits longest and is not first:\n%s", text)
	}
}

// The user moves through waiting and then running jobs, opens one, and comes back.
func TestKeys(t *testing.T) {
	m := open(world(2, 1, 1), 100, 24)
	for _, want := range []job.ID{"w1", "w0", "r0", "r0"} {
		if m.press("down"); m.chosen != want {
			t.Errorf("down: at %s, want %s", m.chosen, want)
		}
	}
	m.press("k", "enter")
	if text := m.text(); !strings.Contains(text, "no GPU is free") || strings.Contains(text, "RUNNING") {
		t.Errorf("opened w0:\n%s", text)
	}
	m.press("esc", "/", "B", "o", "x", "backspace", "b", "enter", "enter")
	if text := m.text(); m.open || !strings.Contains(text, "WAITING (0)") || !strings.Contains(text, "RUNNING (1)") {
		t.Errorf("searched for %q, which hides w0:\n%s", m.search, text)
	}
	m.press("esc")
	if text := m.text(); !strings.Contains(text, "WAITING (2)") {
		t.Errorf("after the search:\n%s", text)
	}
	if cmd := m.key(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil {
		t.Error("q does not quit")
	}
}

// If the scheduler cannot be reached, the last known status stays, and the screen says that it is old.
func TestUpdate_keeps_the_last_status(t *testing.T) {
	m := open(world(1, 0, 1), 100, 24)
	m.Update(answer{err: errors.New("connection refused")})
	if text := m.text(); !strings.Contains(text, "NOT UP TO DATE: connection refused") || !strings.Contains(text, "w0") {
		t.Error(text)
	}
	m.Update(answer{status: world(0, 1, 1)})
	if text := m.text(); strings.Contains(text, "NOT UP TO DATE") || !strings.Contains(text, "r0") {
		t.Error(text)
	}
}

// A scheduler that does not answer is an error after a while, also at first.
func TestAsk_has_a_deadline(t *testing.T) {
	m := &screen{ctx: t.Context(), source: everyTwoSeconds(func(ctx context.Context) (*status.Status, error) {
		at, ok := ctx.Deadline()
		if left := time.Until(at); !ok || left > patience {
			return nil, fmt.Errorf("%v left, want at most %v", left, patience)
		}
		return world(0, 0, 0), nil
	})}
	if a := m.ask(); a.err != nil {
		t.Error(a.err)
	}
}

// Any status fits any terminal: no line is longer, there are never more lines, and the chosen job is in sight.
func TestView_fits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := world(rapid.IntRange(0, 60).Draw(t, "waiting"), rapid.IntRange(0, 60).Draw(t, "running"), rapid.IntRange(0, 40).Draw(t, "nodes"))
		for i := range s.Jobs {
			if rapid.IntRange(0, 3).Draw(t, "trouble") == 0 {
				s.Jobs[i].Trouble = "its checkpoint is damaged"
			}
			s.Jobs[i].Name = rapid.SampledFrom([]string{"x", "\x1b[2Jevil\n\n", strings.Repeat("long", 50), strings.Repeat("訓練", 30)}).Draw(t, "name")
		}
		m := open(s, rapid.IntRange(10, 200).Draw(t, "width"), rapid.IntRange(24, 80).Draw(t, "height"))
		for range rapid.IntRange(0, 80).Draw(t, "presses") {
			m.press(rapid.SampledFrom([]string{"down", "down", "down", "up"}).Draw(t, "key"))
		}
		if rapid.Bool().Draw(t, "open") {
			m.press("enter")
		}
		text := m.text()
		for _, style := range []string{bold, reverse, plain} {
			text = strings.ReplaceAll(text, style, "")
		}
		lines := strings.Split(text, "\n")
		if len(lines) != m.height || strings.Contains(text, "\x1b") {
			t.Fatalf("%d lines of %d:\n%q", len(lines), m.height, text)
		}
		for _, line := range lines {
			if n := ansi.StringWidth(line); n > m.width {
				t.Fatalf("%d cells of %d: %s", n, m.width, line)
			}
		}
		if m.chosen != "" && !m.open && !strings.Contains(text, string(m.chosen)) {
			t.Fatalf("%s is out of sight:\n%s", m.chosen, text)
		}
	})
}

// Run draws, answers keys and ends; an error of the first request is returned.
func TestRun(t *testing.T) {
	keys, typed := io.Pipe()
	go func() {
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(typed, "q")
	}()
	var out strings.Builder
	if err := runScreen(t.Context(), keys, &out, everyTwoSeconds(func(context.Context) (*status.Status, error) { return world(1, 1, 1), nil })); err != nil {
		t.Error(err)
	}
	failed := errors.New("no scheduler")
	if err := runScreen(t.Context(), keys, &out, everyTwoSeconds(func(context.Context) (*status.Status, error) { return nil, failed })); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}
