package whatif

import (
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// A TrialAnswer is a Trial for people and programs: what "oxgang try -o json" prints. Times are in seconds.
type TrialAnswer struct {
	Job    string                 `json:"job,omitempty"`
	Answer string                 `json:"answer"` // now, waits or never
	Why    string                 `json:"why,omitempty"`
	Start  *explain.Expected      `json:"start,omitempty"`
	GPUs   int                    `json:"gpus,omitzero"`
	Type   string                 `json:"gpu_type,omitempty"`
	Nodes  int                    `json:"nodes,omitzero"`
	Price  float64                `json:"price,omitzero"` // of one GPU in the policy's plan, in units of its objective: not money
	Others int                    `json:"waiting_jobs"`
	Helps  *counterfactual.Change `json:"helps,omitempty"`
	Sooner string                 `json:"sooner,omitempty"` // Helps as a sentence
}

// The values of TrialAnswer.Answer.
const (
	StartsNow = "now"
	Waits     = "waits"
	Never     = "never"
)

// AnswerOf returns the answer about a job.
func AnswerOf(spec *job.Spec, t *Trial) *TrialAnswer {
	a := &TrialAnswer{Job: spec.Name, Answer: Waits, Others: t.Others, Helps: t.Helps}
	if t.Never != "" {
		a.Answer, a.Why = Never, t.Never
		return a
	}
	if t.Now {
		a.Answer = StartsNow
	}
	if t.Helps != nil {
		a.Sooner = t.Helps.String()
	}
	a.GPUs, a.Type, a.Nodes, a.Price = t.Gets.GPUs, string(t.Gets.GPUType), t.Gets.Nodes, t.Price
	a.Start = t.Start.expected(t.Passed)
	return a
}

func (a *TrialAnswer) others() string {
	switch a.Others {
	case 0:
		return ""
	case 1:
		return "; 1 other job waits, too"
	}
	return fmt.Sprintf("; %d other jobs wait, too", a.Others)
}

// Text returns the answer in one or two lines.
func (a *TrialAnswer) Text() string {
	var b strings.Builder
	switch a.Answer {
	case Never:
		return printable.Line("Never starts: "+a.Why) + "\n"
	case StartsNow:
		b.WriteString("Starts in the next round")
	default:
		fmt.Fprintf(&b, "Waits%s. Start: %s", a.others(), a.Start.Text())
	}
	if a.GPUs > 0 {
		fmt.Fprintf(&b, ", on %s on %s", printable.GPUs(a.GPUs, a.Type), printable.Count(a.Nodes, "node"))
	}
	b.WriteString(".\n")
	if a.Sooner != "" {
		fmt.Fprintf(&b, "Sooner: %s.\n", a.Sooner)
	}
	return printable.Text(b.String())
}
