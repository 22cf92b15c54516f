package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"io"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axeSource is axe.min.js of axe-core 4.14.1.
//
//go:embed axe/axe.min.js.gz
var axeSource []byte

type finding struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// Accessible fails the test for each rule of axe-core (WCAG 2.2 A and AA, best practices) that the current page
// breaks.
func Accessible(ctx context.Context, t *testing.T, of string) {
	t.Helper()
	for _, f := range findings(ctx, t) {
		t.Errorf("%s: %s: %s: %q", of, f.ID, f.Help, f.Nodes)
	}
}

const runAxe = `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
  r => r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html + " " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)})))`

func findings(ctx context.Context, t *testing.T) (all []finding) {
	t.Helper()
	source, err := script()
	if err != nil {
		t.Fatal(err)
	}
	wait := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(ctx, chromedp.Evaluate(source+"\n;0", nil), chromedp.Evaluate(runAxe, &all, wait)); err != nil {
		t.Fatal(err)
	}
	return all
}

func script() (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(axeSource))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
}
