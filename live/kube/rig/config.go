package rig

import (
	"io/fs"
	"os"
	"path"
	"strings"
	texttemplate "text/template"
)

// WriteConfig executes the template called name in files with data, and writes the result to the file at target.
func WriteConfig(files fs.FS, name, target string, data any) error {
	t, err := texttemplate.New(name).Option("missingkey=error").ParseFS(files, path.Join("config", name))
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, data); err != nil {
		return err
	}
	return os.WriteFile(target, []byte(text.String()), 0o644)
}
