package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/oxgang/oxgang/internal/browser"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

var update = flag.Bool("update", false, "write the pictures of testdata")

// A kept source is what a recording said once. So its pictures change with the page, and not with what policies decide and how they say it.
type kept struct {
	All *Overview        `json:"overview"`
	One *Job             `json:"job"`
	GPU *Series          `json:"series"`
	Was *status.Timeline `json:"timeline"`
}

func (*kept) Live() bool                                                 { return false }
func (k *kept) Job(context.Context, job.ID, time.Duration) (*Job, error) { return k.One, nil }
func (*kept) Log(context.Context, job.ID, io.Writer) error               { return ErrUnknown }
func (k *kept) Series(context.Context) (*Series, error)                  { return k.GPU, nil }
func (k *kept) Timeline(context.Context) (*status.Timeline, error)       { return k.Was, nil }
func (k *kept) Overview(context.Context, time.Duration) (*Overview, error) {
	o := *k.All
	return &o, nil
}

// recording returns the kept source; with -update that of a recording now, if there is none.
func recording(t *testing.T) *kept {
	t.Helper()
	path := filepath.Join("testdata", "recording.json")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) && *update {
		text, err = record(t, path)
	}
	k := new(kept)
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.All.Fill()
	return k
}

// record writes what a recording says of its middle, and of the job that waits longest.
func record(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	r, k := recorded(t), new(kept)
	var err error
	if k.All, err = r.Overview(t.Context(), 50*time.Minute); err != nil {
		return nil, err
	}
	if k.One, err = r.Job(t.Context(), k.All.Jobs[0].ID, 50*time.Minute); err != nil {
		return nil, err
	}
	if k.GPU, err = r.Series(t.Context()); err != nil {
		return nil, err
	}
	if k.Was, err = r.Timeline(t.Context()); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(k, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return nil, err
	}
	return text, os.WriteFile(path, append(text, '\n'), 0o644)
}

// boxed makes every character a box, and hides what browsers draw themselves: controls, where they are, and the bar by which the page scrolls. It sets data-boxed.
var boxed = `const bytes = Uint8Array.from(atob("` + base64.StdEncoding.EncodeToString(boxFont()) + `"), c => c.charCodeAt(0));
const font = new FontFace("box", bytes.buffer), sheet = new CSSStyleSheet();
sheet.replaceSync("html { scrollbar-width: none; } * { font-family: box !important; } input { visibility: hidden; } :focus-visible { outline: 0 !important; }");
document.adoptedStyleSheets = [sheet];
void font.load().then(f => { document.fonts.add(f); return document.fonts.ready; }).then(() => { document.body.dataset.boxed = "true"; }, e => { document.body.dataset.boxed = String(e); });`

// unfit lists texts that are cut off, stand on one another, or are beside the window, as lines. What scrolls by itself may be wider.
const unfit = `(() => {
  const found = [], texts = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const scrolls = e => e.closest(".scroll, pre");
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.closest("option, script")) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    for (const r of range.getClientRects()) {
      if (r.width === 0) continue;
      texts.push({r, e, text: n.data.trim().slice(0, 40)});
      if (!scrolls(e) && (r.left < -1 || r.right > innerWidth + 1)) found.push("beside the window: " + n.data);
    }
    if (!scrolls(e) && getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1) found.push("cut off: " + n.data);
  }
  texts.sort((a, b) => a.r.top - b.r.top);
  for (let i = 0; i < texts.length; i++) for (let k = i + 1; k < texts.length && texts[k].r.top < texts[i].r.bottom - 3; k++) {
    const a = texts[i].r, b = texts[k].r;
    const clipped = scrolls(texts[i].e) !== scrolls(texts[k].e);
    if (!clipped && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6) found.push("on one another: " + texts[i].text + " | " + texts[k].text);
  }
  return found.join("\n");
})()`

// views are how the page is pictured.
var views = []struct {
	scheme string
	width  int
}{{"light", 390}, {"dark", 390}, {"light", 1280}, {"dark", 1280}}

// The page of a recording, with a job, looks in Chromium as it was looked at and kept; and with the fonts of this machine no text is cut off, stands on
// another or is beside the window. It costs 1.8 s of a core.
func TestBrowser_pictures(t *testing.T) {
	ctx := browser.Open(t)
	k := recording(t)
	s, _ := served(t, k)
	open := s.URL()
	for _, v := range views {
		name := fmt.Sprintf("chromium-%d-%s", v.width, v.scheme)
		scheme := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}})
		var bad, said, agent string
		var picture []byte
		does(ctx, t, scheme, chromedp.EmulateViewport(int64(v.width), 900), chromedp.Navigate("about:blank"), chromedp.Navigate(open), chromedp.WaitVisible(ready),
			chromedp.Evaluate(`location.hash = "#job=" + encodeURIComponent("`+string(k.All.Jobs[0].ID)+`")`, nil), chromedp.WaitVisible("ol.life"), chromedp.Evaluate(unfit, &bad),
			chromedp.Evaluate(boxed, nil), chromedp.Poll(`document.body.dataset.boxed`, nil), chromedp.Evaluate(`document.body.dataset.boxed`, &said), chromedp.Evaluate(`navigator.userAgent`, &agent), chromedp.FullScreenshot(&picture, 100))
		if bad != "" || said != "true" {
			t.Errorf("%s: %s; font: %s", name, bad, said)
		}
		looksAs(t, agent, name, picture)
	}
}

const (
	cell      = 4  // pixels that are compared together, in each direction
	tolerance = 24 // of 255, by which the mean colour of a cell may be another: browsers smooth edges in several ways
	mostCells = 12 // that may differ more: a cell of a GPU has 36
)

// version is the browser that drew the pictures in testdata, as in its user agent.
const version = "Chrome/156."

// looksAs compares a picture with the kept one, each pixel of which is the mean of a cell, or writes that with -update. Nothing was seen to differ
// between two runs. What another version of a browser draws otherwise is not known, so its pictures are not compared.
func looksAs(t *testing.T, agent, name string, picture []byte) {
	t.Helper()
	if !*update && !strings.Contains(agent, version) {
		t.Logf("%s is not compared: kept are pictures of %s, this is %s; look at it and keep it: go test ./live/page -run pictures -update", name, version, agent)
		return
	}
	whole, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	got, path := shrunk(whole), filepath.Join("testdata", name+".png")
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if differs := different(got, want); differs > mostCells {
		seen := filepath.Join(os.TempDir(), name+".png")
		_ = os.WriteFile(seen, out.Bytes(), 0o600)
		t.Errorf("%s: %d cells of %v differ from %s of %v, want %d at most: look at %s; go test ./live/page -run pictures -update keeps it", name, differs, got.Bounds().Max, path, want.Bounds().Max, mostCells, seen)
	}
}

// shrunk returns a picture with a pixel for each cell, of its mean colour.
func shrunk(of image.Image) *image.NRGBA {
	size := of.Bounds().Size()
	whole, out := image.NewNRGBA(of.Bounds()), image.NewNRGBA(image.Rect(0, 0, size.X/cell, size.Y/cell))
	draw.Draw(whole, of.Bounds(), of, of.Bounds().Min, draw.Src)
	for y := range size.Y / cell {
		for x := range size.X / cell {
			var sum [3]int
			for i := range cell * cell {
				at := whole.PixOffset(cell*x+i%cell, cell*y+i/cell)
				for k := range sum {
					sum[k] += int(whole.Pix[at+k])
				}
			}
			const n = cell * cell
			out.SetNRGBA(x, y, color.NRGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return out
}

// different returns how many cells of two pictures differ; all, if one has another size.
func different(a *image.NRGBA, b image.Image) int {
	if a.Bounds() != b.Bounds() {
		return a.Bounds().Dx() * a.Bounds().Dy()
	}
	n := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p, q := a.NRGBAAt(x, y), color.NRGBAModel.Convert(b.At(x, y)).(color.NRGBA)
			if max(apart(p.R, q.R), apart(p.G, q.G), apart(p.B, q.B)) > tolerance {
				n++
			}
		}
	}
	return n
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
