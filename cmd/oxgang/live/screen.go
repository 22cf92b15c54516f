package live

import (
	"context"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A screenSource returns the present status, and how long to wait before the next request.
type screenSource func(context.Context) (*status.Status, time.Duration, error)

func everyTwoSeconds(f func(context.Context) (*status.Status, error)) screenSource {
	return func(ctx context.Context) (*status.Status, time.Duration, error) {
		s, err := f(ctx)
		return s, 2 * time.Second, err
	}
}

// runScreen shows a source until the user quits or ctx is done. It returns an error if the first request fails; later, the last
// known status stays on the screen with the error above it.
func runScreen(ctx context.Context, in io.Reader, out io.Writer, source screenSource) error {
	m := &screen{ctx: ctx, source: source}
	first := m.ask()
	if first.err != nil {
		return first.err
	}
	m.now, m.pause = first.status, first.pause
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that is how it ends
	}
	return err
}

// A screen shows the status of a scheduler on a whole terminal, refreshes it, and opens jobs. The order is the order of
// the page: what needs a person, nodes, waiting jobs, running jobs.
type screen struct {
	ctx    context.Context //nolint:containedctx // of one call of runScreen
	source screenSource
	now    *status.Status // never nil
	pause  time.Duration  // before the first request of the running program
	err    error          // of the last request
	width  int
	height int
	chosen job.ID
	open   bool   // shows only the chosen job
	typing bool   // the user types search
	search string // only jobs whose ID, name, user or queue contains it
}

type answer struct {
	status *status.Status
	pause  time.Duration // before the next request
	err    error
}

type tick struct{}

// Init implements tea.Model.
func (m *screen) Init() tea.Cmd { return later(m.pause) }

func later(pause time.Duration) tea.Cmd {
	return tea.Tick(pause, func(time.Time) tea.Msg { return tick{} })
}

// patience is the time after which a status that does not come is an error.
const patience = 10 * time.Second

func (m *screen) ask() answer {
	ctx, cancel := context.WithTimeout(m.ctx, patience)
	defer cancel()
	s, pause, err := m.source(ctx)
	return answer{s, pause, err}
}

// Update implements tea.Model.
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tick:
		return m, func() tea.Msg { return m.ask() }
	case answer:
		if m.err = msg.err; m.err == nil {
			m.now = msg.status
		}
		return m, later(msg.pause)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *screen) key(k tea.KeyPressMsg) tea.Cmd {
	if m.typing && k.String() != "ctrl+c" {
		m.write(k)
		return nil
	}
	switch k.String() {
	case "q", "ctrl+c":
		return tea.Quit
	case "j", "down":
		m.move(1)
	case "k", "up":
		m.move(-1)
	case "enter":
		m.open = m.shown()
	case "esc":
		if !m.open {
			m.search = ""
		}
		m.open = false
	case "/":
		m.typing, m.search, m.open = true, "", false
	}
	return nil
}

func (m *screen) write(k tea.KeyPressMsg) {
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.search = false, ""
	case "backspace":
		if all := []rune(m.search); len(all) > 0 {
			m.search = string(all[:len(all)-1])
		}
	default:
		m.search += k.Text
	}
}

func (m *screen) shown() bool {
	waiting, others := m.jobs()
	is := func(j status.Job) bool { return j.ID == m.chosen }
	return slices.ContainsFunc(waiting, is) || slices.ContainsFunc(others, is)
}

// move chooses the job by places further down, or the first or last one.
func (m *screen) move(by int) {
	waiting, others := m.jobs()
	all := slices.Concat(waiting, others)
	if len(all) == 0 {
		m.chosen = ""
		return
	}
	at := -1
	for i := range all {
		if all[i].ID == m.chosen {
			at = i
		}
	}
	if at < 0 && by < 0 {
		at = len(all)
	}
	m.chosen = all[min(max(0, at+by), len(all)-1)].ID
}
