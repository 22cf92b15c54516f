package status

import (
	"regexp"
	"strings"
)

const mostWords = 12

var (
	fillers = strings.NewReplacer(" planned for it", "", " that it requested", "", " that it needs", "", " of it in the queue", "", " for it,", ",", "it keeps its GPUs, because ", "kept: ", "its policy ", "the policy ",
		" 0s ago", "", " together with the ", " with ", "whole nodes for its ", "its ", "the total cost", "the cost")
	details = regexp.MustCompile(` \([^)]*\)| on \d+ nodes`)
)

// brief returns the fact of the reason in at most 12 words, without the name of the job, how long it has waited, and what
// follows from the fact.
func (j *Job) brief() string {
	text := strings.Join(strings.Fields(details.ReplaceAllString(fillers.Replace(j.Sentence), "")), " ")
	if rest, named := strings.CutPrefix(text, string(j.ID)+" "); named {
		text = rest
	}
	if strings.HasPrefix(text, "has been waiting ") {
		_, text, _ = strings.Cut(text, ": ")
	}
	text, _, _ = strings.Cut(text, "; ")
	if before, fact, contrast := strings.Cut(text, ", but "); contrast && len(strings.Fields(before)) < mostWords {
		text = fact
	}
	return strings.TrimRight(clipped(text), ".,")
}

// clipped ends a text of more than 12 words at the last end of a clause, or after 12 words.
func clipped(text string) string {
	all := strings.Fields(text)
	if len(all) <= mostWords {
		return text
	}
	head := strings.Join(all[:mostWords], " ")
	last := -1
	for _, end := range []string{": ", ", ", " because "} {
		last = max(last, strings.LastIndex(head+" ", end))
	}
	if last > 0 && strings.Count(head[:last], " ") >= 2 {
		return head[:last]
	}
	return head + "\u2026"
}
