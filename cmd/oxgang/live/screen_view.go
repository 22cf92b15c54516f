package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/status"
)

const (
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	plain   = "\x1b[0m"
)

const help = "j/k or arrows: choose   Enter: open   Esc: back   /: search   q: quit"

// View implements tea.Model.
func (m *screen) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.height > 0 { // else the size is not known yet
		v.SetContent(m.text())
	}
	return v
}

func (m *screen) text() string {
	lines := m.head()
	if j := m.now.Job(m.chosen); m.open && j != nil {
		lines = append(lines, m.page(j)...)
	} else {
		lines = append(lines, m.overview(m.height-len(lines)-1)...)
	}
	lines = lines[:min(len(lines), m.height-1)]
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	last := help
	if m.typing {
		last = "search: " + m.search
	}
	return strings.Join(append(lines, m.cut(last)), "\n")
}

// cut removes control characters and what is beyond the width of the screen.
func (m *screen) cut(line string) string { return ansi.Truncate(printable.Line(line), m.width, "…") }

func (m *screen) title(text string) string { return bold + m.cut(text) + plain }

// mostAlerts limits the lines about what needs a person, so that nodes and jobs stay on the screen.
const mostAlerts = 5

func (m *screen) head() []string {
	s := m.now
	waiting, others := 0, 0
	for i := range s.Jobs {
		if waits(&s.Jobs[i]) {
			waiting++
		} else {
			others++
		}
	}
	total, held, unusable := 0, 0, 0
	for _, g := range s.GPUs {
		total, held, unusable = total+g.Total, held+g.Held, unusable+g.Unusable
	}
	numbers := fmt.Sprintf("%s: %d of %s held, %d free", s.Title, held, printable.Count(total, "GPU"), total-held-unusable)
	if unusable > 0 {
		numbers += fmt.Sprintf(", %d unusable", unusable)
	}
	lines := []string{m.title(fmt.Sprintf("%s; %s, %d running; %s", numbers, printable.Count(waiting, "job")+" waiting", others, s.At.Local().Format("15:04:05")))}
	if m.err != nil {
		lines = append(lines, m.title("NOT UP TO DATE: "+m.err.Error()))
	}
	alerts := slices.Concat(s.Warnings(), s.Notes)
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Trouble != "" {
			alerts = append(alerts, fmt.Sprintf("%s: %s", j.ID, j.Trouble))
		}
	}
	for i, text := range alerts {
		if i == mostAlerts-1 && len(alerts) > mostAlerts {
			return append(lines, m.cut(fmt.Sprintf("! and %d more", len(alerts)-i)))
		}
		lines = append(lines, m.cut("! "+text))
	}
	return lines
}

// overview has nodes, waiting jobs and the others, in at most height lines. Nodes get a third, jobs the rest.
func (m *screen) overview(height int) []string {
	waiting, others := m.jobs()
	lines := m.nodes(height / 3)
	rest := height - len(lines)
	top := min(len(waiting)+3, max(rest/2, rest-len(others)-3))
	lines = append(lines, m.table("WAITING", waiting, top)...)
	return append(lines, m.table("RUNNING", others, height-len(lines))...)
}

// nodes has a line with a cell for each GPU of a node, in at most height lines.
func (m *screen) nodes(height int) []string {
	all := m.now.Nodes
	var lines []string
	for i := range all {
		if len(lines) == height-1 && i < len(all)-1 {
			return append(lines, m.cut("and "+printable.Count(len(all)-i, "more node")))
		}
		lines = append(lines, m.cut(cells(&all[i])))
	}
	return lines
}

func cells(n *status.Node) string {
	parts := []string{fmt.Sprintf("%s %s %s%s", n.Name, n.Type, strings.Repeat("■", n.Used), strings.Repeat("□", max(0, n.GPUs-n.Used)))}
	for _, h := range n.Held {
		parts = append(parts, fmt.Sprintf("%s %d", cmp.Or(string(h.Job), "not a job"), h.GPUs))
	}
	if n.Closed != "" {
		parts = append(parts, "closed: "+n.Closed)
	}
	return strings.Join(parts, "  ")
}

// table has a title, a head and a line for each job, in at most height lines. It keeps the chosen job in sight.
func (m *screen) table(title string, jobs []status.Job, height int) []string {
	lines := []string{"", m.title(fmt.Sprintf("%s (%d)", title, len(jobs)))}
	if len(jobs) == 0 || height < 4 {
		return lines[:max(0, min(height, len(lines)))]
	}
	var text strings.Builder
	_ = m.now.WriteJobs(&text, jobs, status.Options{}) // in memory
	rows := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	lines, rows = append(lines, m.cut(rows[0])), rows[1:]
	shown := min(len(rows), height-3)
	chosen := slices.IndexFunc(jobs, func(j status.Job) bool { return j.ID == m.chosen })
	first := min(max(0, chosen-shown+1), len(rows)-shown)
	for i, row := range rows[first : first+shown] {
		if row = m.cut(row); first+i == chosen {
			row = reverse + row + plain
		}
		lines = append(lines, row)
	}
	return lines
}

func (m *screen) page(j *status.Job) []string {
	var text strings.Builder
	_ = j.WriteText(&text, m.now.At) // in memory
	lines := []string{""}
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.Split(ansi.Wrap(strings.TrimSuffix(line, "\n"), m.width, " "), "\n")...)
	}
	return lines
}

// jobs returns the jobs that match the search: those that wait, the longest first, and the others.
func (m *screen) jobs() (waiting, others []status.Job) {
	for _, j := range m.now.Jobs {
		text := strings.ToLower(strings.Join([]string{string(j.ID), j.Name, j.User, j.Queue, j.Namespace}, "\n"))
		switch {
		case !strings.Contains(text, strings.ToLower(m.search)):
		case waits(&j):
			waiting = append(waiting, j)
		default:
			others = append(others, j)
		}
	}
	slices.SortStableFunc(waiting, func(a, b status.Job) int { return a.Since.Compare(b.Since) })
	return waiting, others
}

func waits(j *status.Job) bool { return j.Phase == "waiting" }
