package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/chromedp/chromedp"
)

// What is embedded is the published file, to the byte.
func TestScript(t *testing.T) {
	text, err := script()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	if got, want := hex.EncodeToString(sum[:]), "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"; got != want {
		t.Errorf("SHA-256 %s, want %s", got, want)
	}
}

// Defects of a page are found: a picture and a control without words, and words that are hardly there.
func TestBrowser_findings(t *testing.T) {
	ctx := Open(t)
	const bad = `data:text/html,<html lang=en><title>x</title><main><h1>x</h1><img src="data:,"><input><p style="color:%23ccc;background:%23fff">faint</p></main>`
	if err := chromedp.Run(ctx, chromedp.Navigate(bad)); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range findings(ctx, t) {
		found[f.ID] = true
	}
	for _, want := range []string{"image-alt", "label", "color-contrast"} {
		if !found[want] {
			t.Errorf("%s is not found, only %v", want, found)
		}
	}
}
