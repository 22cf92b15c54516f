// Package firefox starts a Firefox for tests of pages, and speaks its own protocol, Marionette, so that no driver is needed.
package firefox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// names are those that Firefox has in distributions.
var names = []string{"firefox-esr", "firefox"}

// patience is how long the browser may take for anything.
const patience = time.Minute

// A Browser is a Firefox without a window.
type Browser struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	sent int // messages
}

// Open starts a browser that ends with the test. It skips the test where there is no Firefox.
func Open(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("its start takes seconds")
	}
	path := installed()
	if path == "" {
		t.Skip("no Firefox: apt-get install firefox-esr")
	}
	b := &Browser{t: t, conn: dial(t, start(t, path))}
	t.Cleanup(func() { _ = b.conn.Close() })
	b.in = bufio.NewReader(b.conn)
	b.read() // it says who it is
	b.ask("WebDriver:NewSession", map[string]any{}, nil)
	return b
}

func installed() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start runs Firefox with a profile of its own, and returns that.
func start(t testing.TB, path string) (profile string) {
	t.Helper()
	profile = t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte("user_pref(\"marionette.port\", 0);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile)
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "MOZ_DISABLE_CONTENT_SANDBOX=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return profile
}

// dial connects to a Firefox once it has written its port into its profile.
func dial(t testing.TB, profile string) net.Conn {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil || len(port) == 0 {
			continue
		}
		if conn, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port))); err == nil {
			return conn
		}
	}
	t.Fatalf("Firefox does not listen after %v", patience)
	return nil
}

// read returns the next message: its length, a colon, and JSON.
func (b *Browser) read() []byte {
	b.t.Helper()
	var n int
	_ = b.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := fmt.Fscanf(b.in, "%d:", &n); err != nil {
		b.t.Fatalf("Firefox: %v", err)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(b.in, text); err != nil {
		b.t.Fatalf("Firefox: %v", err)
	}
	return text
}

// ask sends a command and reads its result into v; nil: it does not matter.
func (b *Browser) ask(command string, with map[string]any, v any) {
	b.t.Helper()
	b.sent++
	text, err := json.Marshal([]any{0, b.sent, command, with})
	if err == nil {
		_, err = fmt.Fprintf(b.conn, "%d:%s", len(text), text)
	}
	if err != nil {
		b.t.Fatalf("Firefox: %s: %v", command, err)
	}
	var answer [4]json.RawMessage // 1, the number, an error, a result
	if err := json.Unmarshal(b.read(), &answer); err != nil {
		b.t.Fatalf("Firefox: %s: %v", command, err)
	}
	if string(answer[2]) != "null" {
		b.t.Fatalf("Firefox: %s: %.500s", command, answer[2])
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(answer[3], v); err != nil {
		b.t.Fatalf("Firefox: %s: %v in %s", command, err, answer[3])
	}
}

// Visit opens a page, once it is loaded.
func (b *Browser) Visit(url string) {
	b.t.Helper()
	b.ask("WebDriver:Navigate", map[string]any{"url": url}, nil)
}

// Resize makes the window as wide and high, in pixels, as Firefox lets it be.
func (b *Browser) Resize(width, height int) {
	b.t.Helper()
	b.ask("WebDriver:SetWindowRect", map[string]any{"width": width, "height": height}, nil)
}

// Text runs the body of a JavaScript function in the page, and returns the text that it returns.
func (b *Browser) Text(script string) string {
	b.t.Helper()
	var got struct{ Value string }
	b.ask("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}}, &got)
	return got.Value
}

// Await waits until an expression of the page is true.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); b.Text("return String(Boolean("+expression+"))") != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("not after %v: %s", patience, expression)
		}
	}
}

// Click clicks on the first element of a CSS selector.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	var got struct {
		Value map[string]string
	}
	b.ask("WebDriver:FindElement", map[string]any{"using": "css selector", "value": selector}, &got)
	for _, id := range got.Value {
		b.ask("WebDriver:ElementClick", map[string]any{"id": id}, nil)
	}
}

// View makes the page so wide and high, in pixels, also narrower than a window can be, and light or dark.
func (b *Browser) View(width, height int, scheme string) {
	b.t.Helper()
	b.Resize(max(width, 600), height)
	override := map[string]int{"dark": 0, "light": 1}[scheme]
	b.chrome(fmt.Sprintf(`Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", %d); gBrowser.selectedBrowser.style.maxWidth = "%dpx"; gBrowser.selectedBrowser.style.minWidth = "%dpx";`, override, width, width))
	b.Await(fmt.Sprintf("innerWidth === %d", width))
}

// chrome runs a script with the rights of the browser itself.
func (b *Browser) chrome(script string) {
	b.t.Helper()
	b.ask("Marionette:SetContext", map[string]any{"value": "chrome"}, nil)
	b.ask("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}}, nil)
	b.ask("Marionette:SetContext", map[string]any{"value": "content"}, nil)
}

// Inject runs a script in the page as if it were the page's own.
func (b *Browser) Inject(script string) {
	b.t.Helper()
	b.ask("WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}, "sandbox": nil}, nil)
}

// Picture returns the whole page as PNG, also what is below the window.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	var got struct{ Value []byte }
	b.ask("WebDriver:TakeScreenshot", map[string]any{"full": true}, &got)
	return got.Value
}
