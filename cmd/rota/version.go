package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases; other builds have the version of the module.
var version string

type versionView struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs(),
		RunE: func(*cobra.Command, []string) error {
			view := versionView{buildVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.printMessage(view, "rota %s %s %s", view.Version, view.Go, view.Platform)
		},
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
