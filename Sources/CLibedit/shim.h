// libedit's settings are made through variadic functions, which Swift cannot call: one plain function per setting.
#pragma once
#include <histedit.h>
#include <stdlib.h>

static inline int clibedit_set_prompt(EditLine *editor, char *(*prompt)(EditLine *)) {
    return el_set(editor, EL_PROMPT, prompt);
}

static inline int clibedit_set_flag(EditLine *editor, int setting, int value) {
    return el_set(editor, setting, value);
}

static inline int clibedit_set_mode(EditLine *editor, const char *mode) { return el_set(editor, EL_EDITOR, mode); }

/* One setting of the terminal while a line is edited, such as "-isig". */
static inline int clibedit_set_terminal(EditLine *editor, const char *setting) {
    return el_set(editor, EL_SETTY, "-d", setting, NULL);
}

static inline int clibedit_add_function(EditLine *editor, const char *name, const char *help,
                                        unsigned char (*function)(EditLine *, int)) {
    return el_set(editor, EL_ADDFN, name, help, function);
}

static inline int clibedit_bind(EditLine *editor, const char *key, const char *function) {
    return el_set(editor, EL_BIND, key, function, NULL);
}

static inline int clibedit_set_client_data(EditLine *editor, void *data) {
    return el_set(editor, EL_CLIENTDATA, data);
}

static inline void *clibedit_client_data(EditLine *editor) {
    void *data = NULL;
    el_get(editor, EL_CLIENTDATA, &data);
    return data;
}

static inline int clibedit_set_history(EditLine *editor, History *list) {
    return el_set(editor, EL_HIST, history, list);
}

static inline int clibedit_history_limit(History *list, int count) {
    HistEvent event;
    return history(list, &event, H_SETSIZE, count) | history(list, &event, H_SETUNIQUE, 1);
}

static inline int clibedit_history_add(History *list, const char *line) {
    HistEvent event;
    return history(list, &event, H_ENTER, line);
}

static inline int clibedit_history_load(History *list, const char *path) {
    HistEvent event;
    return history(list, &event, H_LOAD, path);
}

static inline int clibedit_history_save(History *list, const char *path) {
    HistEvent event;
    return history(list, &event, H_SAVE, path);
}
