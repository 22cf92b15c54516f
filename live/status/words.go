package status

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
)

var waiting = job.Waiting.String()

// Number formats a number with four digits, or as an integer if it is from 1000 to a million. It returns "" for 0.
func Number(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 1e6:
		return fmt.Sprintf("%.3g", x)
	case x >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

func tenth(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func (j *Job) phase() string {
	if j.Profiling {
		return j.Phase + "*"
	}
	return j.Phase
}

func (j *Job) gpus() string {
	held := strconv.Itoa(j.GPUs)
	if j.GPUType != "" {
		held += " " + string(j.GPUType)
	}
	if j.MinGPUs == j.MaxGPUs {
		return fmt.Sprintf("%s of %d", held, j.MinGPUs)
	}
	return fmt.Sprintf("%s of %d..%d", held, j.MinGPUs, j.MaxGPUs)
}

// progress is the share of the work that the job reported. A job that ended well may have made more: its last reports
// can be lost, for example when its disk is full.
func (j *Job) progress() string {
	if j.Target <= 0 {
		return Number(j.Progress)
	}
	least := ""
	if j.Outcome == "done" && j.Progress < j.Target {
		least = "≥ "
	}
	return fmt.Sprintf("%s%.1f %%", least, 100*min(1, j.Progress/j.Target))
}

// eta formats the time until the end, or until the start if only the start is known: "1h20m-2h10m", "starts <40m".
func (j *Job) eta(at time.Time) string {
	switch {
	case j.HasEnded():
		return ""
	case j.End.Known():
		return j.End.in(at)
	case j.Start.Known():
		return "starts " + j.Start.in(at)
	}
	return ""
}

func (r *Range) in(at time.Time) string {
	early, late := printable.Short(r.Early.Sub(at)), printable.Short(r.Late.Sub(at))
	switch {
	case r.Late.IsZero() && r.Early.Before(at):
		return ""
	case r.Late.IsZero():
		return ">" + early
	case r.Late.Before(at):
		return "overdue"
	case r.Early.Before(at):
		return "<" + late
	case early == late:
		return early
	}
	return early + "-" + late
}

const minute = "2006-01-02 15:04 UTC"

func (r *Range) text() string {
	at := func(t time.Time) string { return t.UTC().Format(minute) }
	var text string
	switch {
	case !r.Known() && strings.HasPrefix(r.Unknown, "unreliable: "):
		return r.Unknown
	case !r.Known() && r.Unknown != "":
		return "unknown: " + r.Unknown
	case !r.Known():
		return ""
	case r.Late.IsZero():
		text = "not before " + at(r.Early)
	case r.Early.IsZero():
		text = "by " + at(r.Late)
	case at(r.Early) == at(r.Late):
		text = at(r.Early)
	default:
		text = at(r.Early) + " to " + at(r.Late)
		if m := at(r.Likely); !r.Likely.IsZero() && m != at(r.Early) && m != at(r.Late) {
			text += ", median " + m
		}
	}
	if r.Probability > 0 && !r.Late.IsZero() {
		text += fmt.Sprintf(" (%.0f %% likely)", 100*r.Probability)
	}
	for _, more := range []string{r.Source, r.Unknown} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

const mostReason = 90

func (j *Job) shortReason() string {
	text := cmp.Or(j.Trouble, j.Reason)
	switch {
	case j.HasEnded():
		text = Headline(j.Detail)
	case j.Trouble == "" && strings.HasPrefix(j.Reason, waiting): // the fact, not the kind of reason
		text, _, _ = strings.Cut(cmp.Or(j.Sentence, j.Reason), ";")
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > mostReason {
		return string(r[:mostReason-1]) + "…"
	}
	return text
}

func (j *Job) slurmReason() string {
	if j.Phase != waiting {
		return j.Trouble
	}
	return strings.TrimPrefix(j.Reason+": "+j.Sentence, ": ")
}

// Headline returns the first line of a message, without clauses such as "; its last lines:".
func Headline(detail string) string {
	head, _, more := strings.Cut(detail, "\n")
	if i := strings.LastIndex(head, "; "); more && i > 0 && strings.HasSuffix(head, ":") {
		return head[:i]
	}
	return head
}

func shorten(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

func ofType(name string) string {
	if name == "" {
		return ""
	}
	return " of type " + name
}

func placementText(nodes []Share) string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		if all[i] = n.Node; n.GPUs > 0 {
			all[i] += ":" + strconv.Itoa(n.GPUs)
		}
	}
	return strings.Join(all, ",")
}

func gpusOn(gpus int, gpuType string, nodes []Share) string {
	if gpus == 0 {
		return "no GPUs"
	}
	text := printable.GPUs(gpus, gpuType)
	if on := placementText(nodes); on != "" {
		text += " on " + on
	}
	return text
}

// WriteText writes the state of a job, one line per property.
func (j *Job) WriteText(w io.Writer, at time.Time) error {
	var b strings.Builder
	whose := strings.Join(j.whose(), ", ")
	if whose != "" {
		whose = " (" + whose + ")"
	}
	fmt.Fprintln(&b, printable.Line(fmt.Sprintf("%s%s is %s", j.ID, whose, cmp.Or(j.Phase, "not visible to you"))))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, printable.Line(text))
		}
	}
	if j.GPUs > 0 {
		line("holds", gpusOn(j.GPUs, string(j.GPUType), j.Nodes))
	} else {
		line("asked", j.Asked)
	}
	if j.Ready < j.Pods {
		line("pods", fmt.Sprintf("%d of %d run", j.Ready, j.Pods))
	}
	line("planned", j.planned())
	if j.HasEnded() {
		line("detail", j.Detail)
	}
	line("reason", j.reasonText())
	line("trouble", j.Trouble)
	line("since", ago(j.lastChange(), at))
	line("helps", j.Unblock)
	line("start", j.Start.text())
	line("end", j.End.text())
	if j.Plan != nil {
		line("plan", fmt.Sprintf("round %d", j.Plan.Round))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (j *Job) reasonText() string {
	if j.Sentence == "" || j.Reason == "" || strings.Contains(j.Reason, " ") {
		return cmp.Or(j.Sentence, j.Reason)
	}
	return j.Reason + ": " + j.Sentence
}

func (j *Job) whose() (all []string) {
	for _, p := range [][2]string{{"", j.Kind}, {"name ", j.Name}, {"user ", j.User}, {"queue ", j.Queue}} {
		if p[1] != "" && (p[0] != "name " || !strings.HasSuffix(string(j.ID), j.Name)) {
			all = append(all, p[0]+p[1])
		}
	}
	return all
}

func (j *Job) planned() string {
	p := j.Plan
	if p == nil || p.GPUs == j.GPUs && placementText(p.Nodes) == placementText(j.Nodes) {
		return ""
	}
	return gpusOn(p.GPUs, string(p.GPUType), p.Nodes)
}

func (j *Job) lastChange() time.Time {
	if !j.Finished.IsZero() {
		return j.Finished
	}
	return j.Since
}

func ago(t, at time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s, %s ago", t.UTC().Format(minute), printable.Short(at.Sub(t)))
}
