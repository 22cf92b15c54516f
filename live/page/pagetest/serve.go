// Package pagetest serves the live page for tests of its sources.
package pagetest

import (
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/page"
)

// Serve serves the page of a source until the test ends, and returns its URL with the token.
func Serve(t *testing.T, source page.Source) string {
	t.Helper()
	s, err := page.Listen(source, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(t.Context()) }()
	return s.URL()
}

// onCall are the questions of a person on call that every page answers (docs/guide/on-call.md).
var onCall = []string{
	"is the cluster full?", "why does a job wait?", "for how long does it wait?", "when does it start?", "what would help?",
	"what holds the GPUs?", "which job failed, and why?", "what did it print?", "does a job leave its GPUs idle?", "does the scheduler answer?",
}

// Answers serves a page and asks it, in each browser, the ten questions of a person on call and others.
func Answers(t *testing.T, source page.Source, questions ...browser.Question) {
	t.Helper()
	for _, name := range onCall {
		if !slices.ContainsFunc(questions, func(q browser.Question) bool { return q.Name == name }) {
			t.Errorf("the page is not asked: %s", name)
		}
	}
	browser.Answers(t, Serve(t, source), questions...)
}
