package provider

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// addBundle adds a completed job whose bundle is a site of that many pages and two
// assets: index.html, quickstart.html, guides/hosting.html, and so on.
func (h *harness) addBundle(id string, pages int) {
	h.service.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Pages: pages})
}

// download returns a configuration that downloads a bundle to NAME/bundle.
func (c *cli) download(name, jobID, arguments string) string {
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  path = %q\n  %s\n}\n", name, jobID, c.inFolder(name, "bundle"), arguments)
}

// inFolder returns a name in the CLI's folder, which is not the provider's.
func (c *cli) inFolder(elements ...string) string {
	return filepath.ToSlash(filepath.Join(c.terraform.Folder, filepath.Join(elements...)))
}

// disk returns what is in a directory: contents of files.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := c.inFolder(directory), map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		found[strings.TrimPrefix(filepath.ToSlash(name), root+"/")] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// wantDisk checks everything that is in a directory.
func (c *cli) wantDisk(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := c.disk(t, directory); !reflect.DeepEqual(got, want) {
		t.Errorf("%s holds\n%.30q\nwant\n%.30q", directory, got, want)
	}
}

// change changes a directory of the folder by comma-separated steps: rm NAME, put NAME
// (a file), dir NAME, and copy NAME (another directory).
func (c *cli) change(t *testing.T, directory, steps string) {
	t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = c.inFolder(directory, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		switch verb {
		case "rm":
			err = os.RemoveAll(name)
		case "put":
			err = cmp.Or(err, os.WriteFile(name, []byte("mine"), 0o600))
		case "dir":
			err = os.MkdirAll(name, 0o755)
		case "copy":
			err = cmp.Or(os.RemoveAll(c.inFolder(directory)), os.CopyFS(c.inFolder(directory), os.DirFS(c.inFolder(filepath.Base(name)))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDownloadReplacesItsOwnFilesOnly goes through what may be on disk. Package bundle tests what counts as the resource's own.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		unpack  string
		change  string // after the last apply
		foreign bool
	}{
		"file as recorded":      {},
		"older file":            {change: "copy older_file_kept"},
		"file missing":          {change: "rm bundle"},
		"file edited":           {change: "put bundle", foreign: true},
		"directory as recorded": {unpack: "unpack = true"},
		"older directory":       {unpack: "unpack = true", change: "copy older_directory_kept"},
		"directory empty":       {unpack: "unpack = true", change: "rm bundle, dir bundle"},
		"page edited":           {unpack: "unpack = true", change: "put bundle/index.html", foreign: true},
		"file in its place":     {unpack: "unpack = true", change: "rm bundle, put bundle", foreign: true},
	}
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.addBundle("se_2", 3)
	apply := func(job string) {
		var config strings.Builder
		for name, test := range tests {
			config.WriteString(c.download(label(name), job, test.unpack))
		}
		c.write(t, config.String())
		c.apply(t, 0)
	}
	changeAll := func() map[string]map[string]string {
		changed := map[string]map[string]string{}
		for name, test := range tests {
			c.change(t, label(name), test.change)
			changed[name] = c.disk(t, label(name))
		}
		return changed
	}
	apply("se_1")
	c.change(t, "older_file_kept", "copy older_file")
	c.change(t, "older_directory_kept", "copy older_directory")
	apply("se_2")
	fresh := map[string]map[string]string{"": c.disk(t, "file_as_recorded"), "unpack = true": c.disk(t, "directory_as_recorded")}

	changed := changeAll()
	wantPhrases(t, c.terraform.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-refresh=false", "-detailed-exitcode", "-out=saved")
	c.service.ResetRequests()
	applied := c.report(t, 1, "apply", "saved")
	c.wantCounts(t, counts{bundle: 4, download: 4}) // none for what is as recorded or foreign
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := plan.planned[label(name)], map[bool]string{false: "update"}[test.change == ""]; got != want {
				t.Errorf("planned %q, want %q", got, want)
			}
			if test.foreign {
				plan.wantSaid(t, name, "warning: "+summaryPathInUse+": "+c.inFolder(label(name))+"/bundle (path)\n")
				applied.wantSaid(t, name, "error: "+summaryPathInUse+" (path)\n")
				c.wantDisk(t, label(name), changed[name])
				c.change(t, label(name), "rm .") // as the error says
				return
			}
			if test.change != "" {
				plan.wantNothingSaid(t, name)
				applied.wantNothingSaid(t, name)
			}
			c.wantDisk(t, label(name), fresh[test.unpack])
		})
	}
	c.apply(t, 0)
	c.wantEmptyPlan(t)

	changed = changeAll()
	said := c.report(t, 0, "destroy", "-auto-approve").said[""] // the warnings have no address
	for name, test := range tests {
		if !test.foreign {
			changed[name] = map[string]string{}
		}
		c.wantDisk(t, label(name), changed[name])
	}
	if n := strings.Count(said, "warning: "+summaryForeignFiles+": "+c.inFolder()); n != 3 {
		t.Errorf("%d warnings, want 3:\n%s", n, said)
	}
}

func TestReplacementDeletesTheOldFilesFirst(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, after, flag, want string }{ // want is a file that is there then
		"other path":       {"", "path = \"PATH/other\"", "", "other"},
		"file to unpacked": {"", "unpack = true", "", "bundle/index.html"},
		"unpacked to file": {"unpack = true", "unpack = false", "", "bundle"},
		"on request":       {"unpack = true", "unpack = true", "-replace", "bundle/index.html"},
	}
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	write := func(arguments func(name string) string) {
		var config strings.Builder
		for name := range tests {
			block := c.download(label(name), "se_1", arguments(name))
			if arguments, other := strings.CutPrefix(arguments(name), "path = \"PATH"); other {
				block = strings.Replace(c.download(label(name), "se_1", ""), "/bundle\"", arguments, 1)
			}
			config.WriteString(block)
		}
		c.write(t, config.String())
	}
	write(func(name string) string { return tests[name].before })
	c.apply(t, 0)
	write(func(name string) string { return tests[name].after })
	plan := c.report(t, 2, "plan", "-detailed-exitcode", "-out=saved", "-replace=docs_bundle_download.on_request")
	c.terraform.Run(t, 0, "apply", "saved")
	for name, test := range tests {
		if plan.planned[label(name)] != "replace" {
			t.Errorf("%s: planned %q", name, plan.planned[label(name)])
		}
		plan.wantNothingSaid(t, name) // its own files are no warning
		if disk := c.disk(t, label(name)); disk[test.want] == "" || len(disk) > 1 != strings.Contains(test.want, "/") {
			t.Errorf("%s: on disk there is %.30q", name, disk)
		}
	}
	c.wantEmptyPlan(t)
}

// Whoever moves the files along with the path has to hear of it before the apply deletes anything.
func TestPathWithACopyOfTheBundleIsTaken(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	c.change(t, "other", "copy site")
	c.write(t, strings.Replace(c.download("site", "se_1", ""), "site/bundle", "other/bundle", 1))
	c.report(t, 0, "plan").wantSaid(t, "site", "warning: "+summaryPathInUse+": "+c.inFolder("other", "bundle")+" (path)\n")
}

// Terraform passes no private state to the Delete of a tainted resource.
func TestTaintedDownloadIsReplaced(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.addBundle("se_2", 3)
	config := func(job, command string) {
		provisioner := "  provisioner \"local-exec\" {\n    command = \"" + command + "\"\n  }\n"
		c.write(t, c.download("file", job, provisioner)+c.download("site", job, "unpack = true\n"+provisioner))
	}
	config("se_1", "exit 1")
	c.apply(t, 1)
	if len(c.disk(t, "file")) != 1 || len(c.disk(t, "site")) != 4 {
		t.Errorf("on disk there is %.30q and %.30q", c.disk(t, "file"), c.disk(t, "site"))
	}
	config("se_2", "exit 0")
	said := c.report(t, 0, "apply", "-auto-approve")
	if strings.Contains(fmt.Sprint(said.said), summaryForeignFiles) || len(c.disk(t, "site")) != 5 {
		t.Errorf("said %v; on disk there is %.30q", said.said, c.disk(t, "site"))
	}
	wantAttributes(t, c.values(t)["docs_bundle_download.file"], map[string]any{"job_id": "se_2", "sha256": checksum(c.disk(t, "file")["bundle"])})
	c.wantEmptyPlan(t)
}

// Terraform destroys the old resource after it has created the new one.
func TestReplacementThatCreatesFirst(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	const createsFirst = "unpack = true\n  lifecycle {\n    create_before_destroy = true\n  }"
	c.write(t, c.download("old", "se_1", createsFirst)+c.download("fresh", "se_1", createsFirst))
	c.apply(t, 0)
	before := c.disk(t, "old")
	c.change(t, "fresh", "rm .")
	said := c.report(t, 1, "apply", "-auto-approve", "-replace=docs_bundle_download.old", "-replace=docs_bundle_download.fresh")
	said.wantSaid(t, "old", "error: "+summaryPathInUse+" (path)\n")
	if strings.Contains(said.said["fresh"], "error: ") {
		t.Errorf("of the fresh disk, the apply says:\n%s", said.said["fresh"])
	}
	c.wantDisk(t, "old", before)
	c.wantDisk(t, "fresh", before)
	c.wantEmptyPlan(t)
	c.report(t, 0, "destroy", "-auto-approve")
	c.wantDisk(t, "old", map[string]string{})
	c.wantDisk(t, "fresh", map[string]string{})
}

// TestDownloadSaysWhatToDo has the whole messages.
func TestDownloadSaysWhatToDo(t *testing.T) {
	t.Parallel()
	system := func(err syscall.Errno) error { return &fs.PathError{Op: "write", Path: "tmp", Err: err} }
	rename := func(err error) error { return &os.LinkError{Op: "rename", Old: "site", New: "tmp", Err: err} }
	cut := &client.ConnectionError{Method: "GET", Path: "/b", Host: "store", Storage: true, Reason: "EOF"}
	missing := &client.APIError{Exchange: client.Exchange{Method: "POST", Path: "/b", StatusCode: 404}}
	archive := func(fault bundle.Fault, entry string) error {
		return &bundle.ArchiveError{Fault: fault, Entry: entry, Err: fault}
	}
	edited := &bundle.OccupiedError{Path: "site", Kind: fs.ModeDir}
	const (
		wroteNothing = " This resource wrote no files.\n\n"
		makeSure     = "Make sure that Terraform can read \"site\" and write to the directory that contains it, and that the disk has free space. "
		noRecord     = " \"site\" as it is now. It was changed, or written by an earlier resource, an interrupted run, or another program. "
		refused      = "error: Could not unpack the bundle (unpack)\nThe bundle of job se_1 cannot be unpacked, because "
		asItIs       = "." + wroteNothing + "To download it as it is, remove unpack."
		entry        = refused + "its entry \"a\" "
	)
	for _, test := range []struct {
		stage downloadStage
		err   error
		want  string
	}{
		{planCreation, edited, "warning: Unexpected files at the bundle's path: site (path)\nThis resource has no record of the " +
			"directory" + noRecord + "The apply will stop before the download and change nothing, unless it first destroys the resource that wrote " +
			"this.\n\nUse a different path, or move or delete \"site\". Then run the same command again."},
		{planUpdate, edited, "warning: Unexpected files at the bundle's path: site (path)\nThis resource has no record of the " +
			"directory" + noRecord + "The apply will stop before the download and change nothing.\n\nUse a different path, or move or delete " +
			"\"site\". Then run the same command again."},
		{createDownload, &bundle.OccupiedError{Path: "site"}, "error: Unexpected files at the bundle's path (path)\nThis resource has no record of " +
			"the file" + noRecord + "This resource wrote no files.\n\nUse a different path, or move or delete \"site\". " + applyAgain},
		{updateDownload, &bundle.OccupiedError{Path: "site", Kind: fs.ModeSymlink}, "error: Unexpected files at the bundle's path (path)\nThis " +
			"resource has no record of the symbolic link" + noRecord + "This resource changed no files, and its state is unchanged.\n\nUse a " +
			"different path, or move or delete \"site\". " + applyAgain},
		{deleteDownload, &bundle.OccupiedError{Path: "site", Kind: fs.ModeNamedPipe}, "warning: Files were not deleted: site (path)\nThis resource " +
			"has no record of what is at" + noRecord + "It was not deleted.\n\nIf nothing needs it, delete it."},

		{createDownload, system(syscall.ENOSPC), "error: Could not write the bundle ()\nThe operating system returned: write tmp: no space left on " +
			"device.\n\nThis resource wrote no files.\n\n" + makeSure + applyAgain},
		{deleteDownload, system(syscall.EACCES), "error: Could not delete the downloaded bundle ()\nThe operating system returned: write tmp: " +
			"permission denied.\n\nNo files were deleted, and the state is unchanged.\n\n" + makeSure + "Then run the same command again."},
		{planUpdate, system(syscall.EMFILE), "error: Could not inspect the downloaded bundle ()\nThe operating system returned: write tmp: too many " +
			"open files.\n\nRaise the limit on open files (ulimit -n) or reduce -parallelism. Then run the same command again."},
		{planCreation, system(syscall.ENAMETOOLONG), "error: Could not inspect the downloaded bundle ()\nThe operating system returned: write tmp: " +
			"file name too long.\n\nShorten path."},
		{createDownload, rename(syscall.EBUSY), "error: Could not write the bundle ()\nThe operating system returned: rename site tmp: device or " +
			"resource busy.\n\nThis resource wrote no files.\n\nIf path is a mount point, use a subdirectory of it."},
		{createDownload, rename(syscall.EXDEV), "error: Could not write the bundle ()\nThe operating system returned: rename site tmp: invalid " +
			"cross-device link.\n\nThis resource wrote no files.\n\nThe file system cannot rename \"site\", for example because it is part of a " +
			"container image. Use a different path, or delete the directory. " + applyAgain},
		{updateDownload, &bundle.LeftError{Path: ".tmp/old", Old: true, Err: rename(syscall.EIO)}, "error: Could not write the bundle ()\nThe " +
			"operating system returned: rename site tmp: input/output error.\n\nThe previous files are in \".tmp/old\". Move them back to \"site\". " +
			"" + applyAgain},
		{deleteDownload, &bundle.LeftError{Path: ".tmp", Err: system(syscall.EACCES)}, "warning: Temporary files were not deleted: .tmp ()\nThe " +
			"operating system returned: write tmp: permission denied.\n\nNothing needs this temporary directory. Delete it."},

		{createDownload, &client.ConnectionError{Method: "GET", Path: "/b", Host: "store", TooManyFiles: true, Reason: "socket"}, "error: Could not " +
			"download the bundle ()\nThe request GET /b to store failed: socket.\n\nThe job_id is se_1. This resource wrote no files.\n\nRaise the " +
			"limit on open files (ulimit -n) or reduce -parallelism. " + applyAgain},
		{createDownload, cut, "error: Could not download the bundle ()\nThe request to the object store store failed: EOF.\n\nThe job_id is se_1. " +
			"This resource wrote no files.\n\nCheck the network and the proxy settings (HTTPS_PROXY, NO_PROXY), and try again."},
		{createDownload, missing, "error: Could not download the bundle ()\nThe service returned HTTP 404 Not Found for POST /b, without a " +
			"message.\n\nThe job_id is se_1. This resource wrote no files.\n\n" + checkService + " " + missingBundle},
		{deleteDownload, context.Canceled, "error: Could not delete the downloaded bundle ()\nTerraform was interrupted.\n\nThe job_id is se_1. No " +
			"files were deleted, and the state is unchanged.\n\nTo continue, run the same command again."},

		{createDownload, &mismatchError{"sha256", "1f", "2f"}, "error: Checksum of the bundle does not match (sha256)\nThe bundle of job se_1 has the " +
			"SHA-256 checksum 1f, but sha256 is 2f." + wroteNothing + "If the bundle is correct, update or remove sha256."},
		{createDownload, &mismatchError{"job_id", "", "2f"}, "error: Content of the bundle has changed (job_id)\nThe service returned different files " +
			"for job se_1: content_sha256 is null instead of 2f." + wroteNothing + "To accept the new files, run \"terraform apply -replace=ADDRESS\" " +
			"for this resource."},
		{createDownload, &bundle.ArchiveError{Fault: bundle.Damaged, Entry: "a\x1b", Err: io.ErrUnexpectedEOF}, "error: Could not unpack the bundle " +
			"(job_id)\nThe bundle of job se_1 is damaged: unexpected EOF in the entry \"a\\x1b\"." + wroteNothing + "Run \"terraform apply\" again. " +
			"If the bundle is still damaged, change triggers in the docs_static_export resource to export the site again."},
		{createDownload, archive(bundle.NotAnArchive, ""), refused + "it is not a tar, gzip-compressed tar, or zip archive" + asItIs},
		{createDownload, archive(bundle.Empty, ""), refused + "it contains no files" + asItIs},
		{createDownload, archive(bundle.TooMany, "a"), refused + "it has more than 100,000 files and directories, or is a zip archive with a central " +
			"directory of more than 50 MB" + asItIs},
		{createDownload, archive(bundle.TooLarge, "a"), refused + "it unpacks to more than 4 GiB" + asItIs},
		{createDownload, archive(bundle.NotUTF8, "caf\xe9"+strings.Repeat("x", 500)), refused + "its entry " +
			"\"caf\\xe9" + strings.Repeat("x", 96) + "\" has a name that is not UTF-8" + asItIs},
		{createDownload, archive(bundle.UnsafeName, "a"), entry + "has an unsafe name: absolute, with .., with a backslash or a control character, or " +
			"reserved by the system" + asItIs},
		{createDownload, archive(bundle.LongName, "a"), entry + "has a name that is too long" + asItIs},
		{createDownload, archive(bundle.Duplicate, "a"), entry + "has the same path as another entry, perhaps in different case, or is inside an " +
			"entry that is a file" + asItIs},
		{createDownload, archive(bundle.SymbolicLink, "a"), entry + "is a symbolic link" + asItIs},
		{createDownload, archive(bundle.HardLink, "a"), entry + "is a hard link" + asItIs},
		{createDownload, archive(bundle.SpecialFile, "a"), entry + "is neither a file nor a directory" + asItIs},
		{createDownload, archive(bundle.Encrypted, "a"), entry + "is encrypted" + asItIs},
		{createDownload, archive(bundle.Compression, "a"), entry + "uses an unsupported compression method" + asItIs},
	} {
		var diags diag.Diagnostics
		test.stage.report(&diags, bundleDownloadModel{JobID: types.StringValue("se_1"), Path: types.StringValue("site")}, test.err)
		var at string
		if d, ok := diags[0].(diag.DiagnosticWithPath); ok {
			at = d.Path().String()
		}
		got := fmt.Sprintf("%s: %s (%s)\n%s", strings.ToLower(diags[0].Severity().String()), diags[0].Summary(), at, diags[0].Detail())
		if got != test.want || len(diags) != 1 {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}
