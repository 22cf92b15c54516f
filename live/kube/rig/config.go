package rig

import (
	"io/fs"
	"os"
	"path"
	"strings"
	texttemplate "text/template"
)

// WriteConfig writes a file of the directory config of a package to a path, with data in its
// places. A place for which there is no data is an error.
func WriteConfig(files fs.FS, name, to string, data any) error {
	t, err := texttemplate.New(name).Option("missingkey=error").ParseFS(files, path.Join("config", name))
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, data); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(text.String()), 0o644)
}
